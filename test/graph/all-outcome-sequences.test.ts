import { LONGEST_PATH, RECURSION_LIMIT } from '../../src/blueprint/routing-table';
import { ALL_SEQUENCES } from './sequence-walk';
import { walkApart } from './walk-apart';

describe('All outcome sequences through the compiled graph, first half', () => {
  it('[A5] the longest path of the routing table under the business limits is LONGEST_PATH, and the limit one more', () => {
    expect(Math.max(...ALL_SEQUENCES.map((path) => path.length))).toBe(18);
    expect([LONGEST_PATH, RECURSION_LIMIT]).toEqual([18, 19]);
  });

  it(`[A4] [A5] [A6] [A8] [A9] [A10] [A11] [A13] [C6] [A18] agrees with the oracle on every even one of ${ALL_SEQUENCES.length} sequences`, async () => {
    const { walked, disagreements } = await walkApart(0, 2);
    process.stdout.write(
      `${walked} of ${ALL_SEQUENCES.length} outcome sequences walked, ${disagreements.length} disagreements\n`,
    );
    expect(walked).toBe(Math.ceil(ALL_SEQUENCES.length / 2));
    expect(disagreements.slice(0, 5)).toEqual([]);
  }, 300_000);
});
