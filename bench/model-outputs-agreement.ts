import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { unwrapModelJson } from '../src/protocol/model-json';
import type { Agreement } from './agreement';

interface ModelOutputRow {
  readonly id: string;
  readonly category: string;
  readonly policy: string;
  readonly expected: unknown;
  readonly raw: string;
}

/**
 * Compares `unwrapModelJson` with `protocol/model-outputs.jsonl` of a data folder: ACCEPT and RESCUE rows must give the
 * expected value (numbers as the doubles nearest to both texts), INVALID_OUTPUT rows must be refused, other policies disagree.
 */
export function modelOutputsAgreement(dataFolder: string): Agreement {
  const lines = readFileSync(join(dataFolder, 'protocol', 'model-outputs.jsonl'), 'utf8').split('\n');
  const rows = lines.filter((line) => line.trim() !== '').map((line) => JSON.parse(line) as ModelOutputRow);
  return { name: 'model outputs', checked: rows.length, disagreements: rows.flatMap(disagreementsOf) };
}

function disagreementsOf(row: ModelOutputRow): string[] {
  const parsed = unwrapModelJson(row.raw);
  const at = `${row.id} (${row.category})`;
  if (row.policy === 'INVALID_OUTPUT') return parsed.ok ? [`${at}: taken, should be refused`] : [];
  if (row.policy !== 'ACCEPT' && row.policy !== 'RESCUE') return [`${at}: unknown policy ${row.policy}`];
  if (!parsed.ok) return [`${at}: refused (${parsed.problems.join('; ')}), should be taken`];
  return isDeepStrictEqual(parsed.value, row.expected) ? [] : [`${at}: another value than expected`];
}
