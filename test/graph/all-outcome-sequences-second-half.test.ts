import { ALL_SEQUENCES } from './sequence-walk';
import { walkApart } from './walk-apart';

describe('All outcome sequences through the compiled graph, second half', () => {
  it(`[A4] [A5] [A6] [A8] [A9] [A10] [A11] [A13] [C6] [A18] agrees with the oracle on every odd one of ${ALL_SEQUENCES.length} sequences`, async () => {
    const { walked, disagreements } = await walkApart(1, 2);
    process.stdout.write(
      `${walked} of ${ALL_SEQUENCES.length} outcome sequences walked, ${disagreements.length} disagreements\n`,
    );
    expect(walked).toBe(Math.floor(ALL_SEQUENCES.length / 2));
    expect(disagreements.slice(0, 5)).toEqual([]);
  }, 300_000);
});
