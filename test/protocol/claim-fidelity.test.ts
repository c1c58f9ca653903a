import fc from 'fast-check';
import { compareTimes, timesIn, type WrittenTime } from '../../src/protocol/claim-fidelity/instants';
import { Decimal, isShownAs, PLAIN, readNumber } from '../../src/protocol/claim-fidelity/quantities';
import { tokensOf } from '../../src/protocol/claim-fidelity/tokens';
import { unfaithfulTokens } from '../../src/protocol/claim-fidelity/unfaithful-tokens';
import { EntityIndex, readSentence } from '../../src/protocol/claim-fidelity/written-content';

const timeOf = (text: string): WrittenTime => timesIn(text)[0] as WrittenTime;
const shown = (exact: string, stated: string, about = false): boolean => {
  const number = readNumber(stated);
  return number !== null && isShownAs({ value: new Decimal(exact), measure: PLAIN }, number, PLAIN, about);
};

describe('claim fidelity', () => {
  it.each([
    ['0.4549', '0.45', true],
    ['0.4549', '0.46', false],
    ['0.455', '0.46', true],
    ['0.455', '0.45', false],
    ['-0.455', '-0.46', true],
    ['0.4549', '0.5', false],
    ['0.5', '0.5', true],
    ['12345678901234567890', '12345678901234567891', false],
  ])('[C7] %s shown as %s: %s', (exact, stated, expected) => {
    expect(shown(exact, stated)).toBe(expected);
  });

  it('[C7] a number shown to its own decimals is accepted, its neighbour never', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100_000, max: 9_999_999 }), fc.integer({ min: 0, max: 3 }), (whole, decimals) => {
        const exact = new Decimal(whole).div(10_000);
        const rounded = exact.round(decimals, 1);
        const step = new Decimal(10).pow(-decimals);
        expect(shown(exact.toFixed(), rounded.toFixed(decimals))).toBe(true);
        expect(shown(exact.toFixed(), rounded.plus(step).toFixed(decimals))).toBe(false);
        expect(shown(exact.toFixed(), rounded.minus(step).toFixed(decimals))).toBe(false);
      }),
    );
  });

  it('[C7] digits inside names and times are no numbers, and words are', () => {
    const content = readSentence(
      'pay-2 v1.2.3 at 2026-05-04T14:05Z took twenty-three ms, two hundred and five of 1,500',
      new EntityIndex([]),
    );
    expect(content.numbers.map(({ shown: { value } }) => value.toFixed())).toEqual(['23', '205', '1500']);
    expect(content.names).toEqual(['pay-2', 'v1.2.3']);
    expect(content.times.length).toBe(1);
  });

  it('[C7] tokens are whole names', () => {
    expect(tokensOf('GET /api/cart-2, host:80 (-5.5) cart_x.').map(({ text }) => text)).toEqual([
      'GET',
      '/api/cart-2',
      'host:80',
      '-5.5',
      'cart_x',
    ]);
  });

  it.each([
    ['14:05', '2026-05-04T14:05:59Z', null, 'equal'],
    ['14:06', '2026-05-04T14:05:59Z', null, 'different'],
    ['14:05:59.1', '2026-05-04T14:05:59.123Z', null, 'equal'],
    ['16:05 +02:00', '2026-05-04T14:05:00Z', null, 'equal'],
    ['2026-05-05 01:00 UTC', '2026-05-05 09:00:10', '+08:00', 'equal'],
    ['2026-07-01 12:00 UTC', '2026-07-01 14:00:00', 'Europe/Berlin', 'equal'],
    ['2026-05-04 14:05', '2026-05-04 14:05:00', null, 'ambiguous'],
    ['14:05 EST', '2026-05-04T14:05:00Z', null, 'ambiguous'],
    ['2:05 pm UTC', '04/May/2026:14:05:00 +0000', null, 'equal'],
    ['14:05:30 UTC', '2026-05-04T14:05Z', null, 'different'],
  ])('[C7] %s against %s in zone %s: %s', (stated, recorded, zone, expected) => {
    expect(compareTimes(timeOf(stated), timeOf(recorded), zone)).toBe(expected);
  });

  it('[C7] names the tokens of a free text that stand in no evidence', () => {
    const evidence = ['checkout: error share rose from 0.8 % to 43 %', 'pool exhausted on db-1'];
    expect(unfaithfulTokens('Raise the pool of db-1; checkout failed 43 % of calls.', evidence, new Set(['checkout']))).toEqual(
      [],
    );
    expect(unfaithfulTokens('Restart db-2 and payment, 44 % "pool full"', evidence, new Set(['payment']))).toEqual([
      'pool full',
      'db-2',
      'payment',
      '44 %',
    ]);
  });
});
