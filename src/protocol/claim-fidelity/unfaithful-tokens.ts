import { offencesOf } from './statement-fidelity';
import { EntityIndex, readSentence } from './written-content';

/**
 * Names, numbers, times and quotations of a free text that stand in none of the evidence texts: the tokens for which the text
 * must be dropped. It refuses nothing else, in particular not what the text recommends.
 */
export function unfaithfulTokens(text: string, evidenceTexts: readonly string[], entityNames: ReadonlySet<string>): string[] {
  const content = readSentence(text, new EntityIndex(entityNames));
  const texts = evidenceTexts.map((evidence) => ({ text: evidence, unit: null, textZone: null }));
  return offencesOf(content, { texts, nameTexts: [], derived: [] }).map((offence) => offence.text);
}
