import { Raw, type FindOperator } from 'typeorm';

let made = 0;

/**
 * A condition that a column holds this very text, byte for byte. It is for columns whose database takes A for a and passes over spaces
 * at the end; the plain comparison in it lets an index find the few that are alike.
 */
export function exactly(text: string): FindOperator<string> {
  // All parameters of a statement share one room for names.
  const name = `exact_${(made = (made + 1) % 1_000_000)}`;
  const condition = (column: string): string => `(${column} = :${name} AND HEX(${column}) = HEX(:${name}))`;
  return Raw(condition, { [name]: text }) as FindOperator<string>;
}
