import type { Claim } from '../../src/protocol/executor-evidence';
import { parseExecutorEvidence } from '../../src/protocol/parse-executor-evidence';
import { fact, output, ShopRun, WINDOW } from './shop-calls';

/** Statements without an assertion over rows whose free text mentions another row's entity. */
const run = new ShopRun();
const UNITS = run.add(
  { window: WINDOW },
  output(
    {
      rows: [
        {
          unit: 'alder',
          failures: 42,
          baseline_failures: 1,
          latency: 1500,
          share: 0.25,
          down: false,
          note: 'connection to birch refused after 30 seconds',
        },
        {
          unit: 'birch',
          failures: 3,
          baseline_failures: 3,
          latency: 20,
          share: 0.01,
          down: true,
          note: 'worker did not answer, source killed',
        },
        { unit: 'cedar', failures: 0, baseline_failures: 9, latency: 5, share: 0, down: false, note: 'calm' },
        {
          unit: 'maple',
          failures: 42_000,
          baseline_failures: 12,
          latency: 4_200_000,
          share: 0.5,
          down: false,
          note: '٤٣ Aufrufe ½',
        },
      ],
    },
    {
      fields: {
        unit: { unit: 'text', entity: true },
        failures: { unit: 'count', window: 'incident' },
        baseline_failures: { unit: 'count', window: 'baseline' },
        latency: { unit: 'ms', window: 'incident' },
        share: { unit: 'ratio', window: 'incident' },
        note: { unit: 'text' },
      },
    },
  ),
  'unit_counts',
);
const ROWS = ['alder', 'birch', 'cedar', 'maple'];
const of = (subject: string, statement: string, fields: string, rows = subject): Claim =>
  fact({
    subject,
    statement,
    bindings: `${fields} unit`
      .split(' ')
      .map((field) => run.at(`/rows/${ROWS.indexOf(rows)}/${field}`, undefined, UNITS, 'unit_counts')),
  });
const alder = (statement: string, fields = 'failures'): Claim => of('alder', statement, fields);

const TRUE: readonly (readonly [string, Claim])[] = [
  ['a count', alder('alder had 42 failures')],
  ['a count in words', alder('Alder has forty-two failures')],
  ['a genitive', alder("alder's failures: 42")],
  ['an equation', alder('failures of alder = 42')],
  ['a scale word', of('maple', 'maple had 42 thousand failures', 'failures')],
  ['a scale word of a share of the digits', of('maple', 'maple took about 4.2 million ms', 'latency')],
  ['a dozen', of('maple', 'in the baseline maple had a dozen failures', 'baseline_failures')],
  ['other digits of the text itself', of('maple', 'maple logged ٤٣ Aufrufe', 'note')],
  ['a value in another unit', alder('alder took 1.5 s', 'latency')],
  ['a share in percent', alder('alder has a share of 25 %', 'share')],
  ['a quotation that mentions another', alder('alder logged "connection to birch refused"', 'note')],
  ['words of the text', alder('alder had its connection refused after 30 seconds', 'note')],
  ['a causal word of the text', of('birch', 'birch logged source killed', 'note')],
  ['a flag', of('birch', 'birch is down', 'down')],
  ['a zero', of('cedar', 'cedar had 0 failures', 'failures')],
];

const CAPPED: readonly (readonly [string, Claim])[] = [
  ['a change with both values', alder('alder failures rose from 1 to 42', 'baseline_failures failures')],
  ['a change in its direction', alder('failures of alder increased', 'baseline_failures failures')],
  ['a negation over a zero', of('cedar', 'cedar had no failures', 'failures')],
  ['a negation over a false', alder('alder is not down', 'down')],
  ['words of amount', alder('both values of alder: 42 failures')],
  ['a text without its negation', of('birch', 'birch logged worker answer', 'note')],
];

const SUBJECTS: readonly (readonly [string, string, Claim])[] = [
  ['another in its place', 'IDENTIFIER_NOT_FOUND', alder('birch had 42 failures', 'failures note')],
  ['both, of one row', 'IDENTIFIER_NOT_FOUND', alder('birch and alder had 42 failures', 'failures note')],
  ['the text of one told of another', 'IDENTIFIER_NOT_FOUND', alder('birch refused alder connection', 'note')],
  [
    'the mentioned one as the teller',
    'IDENTIFIER_NOT_FOUND',
    {
      ...alder('birch logged "connection to birch refused"'),
      subject: 'birch',
      bindings: [run.at('/rows/0/note', undefined, UNITS, 'unit_counts')],
    },
  ],
  ['nobody', 'SUBJECT_NOT_FOUND', alder('it had 42 failures')],
  [
    'another beside an assertion',
    'IDENTIFIER_NOT_FOUND',
    { ...alder('birch had 42 failures', 'failures note'), assertion: { op: 'count', left: 0, value: 42 } },
  ],
];

const NUMBERS: readonly (readonly [string, string])[] = [
  ['NUMBER_NOT_FOUND', 'alder had 42 thousand failures'],
  ['NUMBER_NOT_FOUND', 'alder had 42 million failures'],
  ['NUMBER_NOT_FOUND', 'alder had 42 hundred failures'],
  ['NUMBER_NOT_FOUND', 'alder had 42 dozen failures'],
  ['NUMBER_NOT_FOUND', 'alder had 42 lakh failures'],
  ['NUMBER_NOT_FOUND', 'alder had 42 thousand million failures'],
  ['NUMBER_NOT_FOUND', 'alder had fortythree failures'],
  ['NUMBER_NOT_FOUND', 'alder had un million failures'],
  ['IDENTIFIER_NOT_FOUND', 'alder had ٤٣ failures'],
  ['IDENTIFIER_NOT_FOUND', 'alder had ४३ failures'],
  ['IDENTIFIER_NOT_FOUND', 'alder had 42 and ৯৯ failures'],
  ['IDENTIFIER_NOT_FOUND', 'alder had ㊸ failures'],
  ['IDENTIFIER_NOT_FOUND', 'alder had 𝟒𝟑 failures'],
  ['IDENTIFIER_NOT_FOUND', 'alder had Ⅻ failures'],
  ['IDENTIFIER_NOT_FOUND', '½ of alder had failures'],
  ['IDENTIFIER_NOT_FOUND', 'alder had 四十三 failures'],
  ['WORD_NOT_FOUND', 'alder had 42+ failures'],
  ['WORD_NOT_FOUND', 'alder a eu mille failures'],
  ['WORD_NOT_FOUND', 'alder had dreiundvierzig failures'],
  ['WORD_NOT_FOUND', 'a quarter of alder had failures'],
  ['WORD_NOT_FOUND', 'alder had a couple of failures'],
  ['WORD_NOT_FOUND', 'alder failures are an order of magnitude up'],
  ['WORD_NOT_FOUND', 'alder had failures at noon'],
  ['WORD_NOT_FOUND', 'alder had 42 failures on Tuesday'],
  ['WORD_NOT_FOUND', 'alder had 42 failures yesterday'],
  ['WORD_NOT_FOUND', 'alder had 42 users'],
  ...'doubled tripled twice tenfold dozens hundreds half most'
    .split(' ')
    .map((word): readonly [string, string] => ['WORD_NOT_FOUND', `alder had ${word} failures`]),
];

const PREDICATES: readonly (readonly [string, string])[] = [
  ['CAUSAL_STATEMENT', 'alder is the culprit with 42 failures'],
  ['CAUSAL_STATEMENT', 'alder is the source of 42 failures'],
  ['CAUSAL_STATEMENT', 'alder is the origin of 42 failures'],
  ['CAUSAL_STATEMENT', 'alder is behind 42 failures'],
  ['CAUSAL_STATEMENT', '42 failures are the fault of alder'],
  ['CAUSAL_STATEMENT', '42 failures are a result of alder'],
  ['CAUSAL_STATEMENT', 'alder broke checkout'],
  ['CAUSAL_STATEMENT', 'alder killed the database'],
  ['CAUSAL_STATEMENT', 'alder forces 42 failures'],
  ['CAUSAL_STATEMENT', 'alder took the line offline'],
  ['CAUSAL_STATEMENT', 'alder had 42 failures, so the time was'],
  ['CAUSAL_STATEMENT', 'alder -> outage'],
  ['CAUSAL_STATEMENT', 'alder ⇒ outage'],
  ['WORD_NOT_FOUND', 'alder was breached by an attacker'],
  ['WORD_NOT_FOUND', 'alder is perfectly healthy'],
  ['WORD_NOT_FOUND', 'alder recovered'],
  ['WORD_NOT_FOUND', 'alder had more than 42 failures'],
  ['WORD_NOT_FOUND', 'alder had 42 errors'],
  ['WORD_NOT_FOUND', 'alder failures fell'],
  ['ASSERTION_FALSE', 'alder had no failures'],
  ['ASSERTION_FALSE', 'alder was without failures'],
];

const CHANGES: readonly (readonly [string, string])[] = [
  ['ASSERTION_FALSE', 'alder failures fell'],
  ['ASSERTION_FALSE', 'alder failures dropped from 1 to 42'],
  ['ASSERTION_FALSE', 'alder failures rose from 42 to 1'],
  ['NUMBER_NOT_FOUND', 'alder failures rose by 42'],
  ['WINDOW_MISMATCH', 'alder failures rose to 1'],
  ['WORD_NOT_FOUND', 'alder failures rose and fell'],
];

const codes = async (claim: Claim): Promise<string[]> =>
  (await run.check([claim])).checked_bindings.map((binding) => binding.reason_code);

describe('the words of untyped statements', () => {
  it.each(TRUE)('[B6] [C7] passes what restates its evidence: %s', async (_name, claim) => {
    expect(await codes(claim)).toEqual(claim.bindings.map(() => 'OK'));
    expect((await run.check([claim])).result).toBe('pass');
  });

  it.each(CAPPED)('[C7] shows but never passes: %s', async (_name, claim) => {
    const result = await run.check([claim]);
    expect(result.reasons).toEqual([{ code: 'UNTYPED_COMPARISON', claim_id: 'c1' }]);
    expect(result.checked_bindings.every((binding) => binding.passed)).toBe(true);
  });

  it.each(SUBJECTS)('[C7] fails a sentence that names %s (%s)', async (_name, code, claim) => {
    expect(await codes(claim)).toEqual(claim.bindings.map(() => code));
  });

  it.each([...NUMBERS, ...PREDICATES])('[C7] %s: %s', async (code, statement) => {
    expect(await codes(alder(statement))).toEqual([code, code]);
    const { reasons } = await run.check([alder(statement)]);
    expect(reasons.some((reason) => reason.code === 'CAUSAL_STATEMENT')).toBe(code === 'CAUSAL_STATEMENT');
  });

  it.each(CHANGES)('[C7] over both values, %s: %s', async (code, statement) => {
    expect(await codes(alder(statement, 'baseline_failures failures'))).toEqual([code, code, code]);
  });

  it.each([
    ['a zero told as something', of('cedar', 'cedar had failures', 'failures')],
    ['a false told as true', alder('alder is down', 'down')],
    ['a true denied', of('birch', 'birch is not down', 'down')],
  ])('[C7] fails %s', async (_name, claim) => {
    expect(await codes(claim)).toEqual(['ASSERTION_FALSE', 'ASSERTION_FALSE']);
  });
});

describe('the size of a document', () => {
  const claim = alder('alder had 42 failures');
  const assessment = (subject: string): object => ({ rank: 1, subject, role: 'symptom', claim_ids: ['c0'] });
  const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
  const claims = (count: number, changes: Partial<Claim> = {}): Claim[] =>
    many(count, (index) => ({ ...claim, claim_id: `c${index}`, ...changes }));
  const bindings = (count: number): Claim['bindings'] =>
    many(count, (index) => run.at(`/rows/${index}/failures`, undefined, UNITS, 'unit_counts'));
  const parses = (changes: object): boolean =>
    parseExecutorEvidence(
      JSON.stringify({
        schema: 'executor_evidence_v2',
        claims: claims(1),
        assessments: [],
        limitations: [],
        no_evidence: null,
        ...changes,
      }),
    ).ok;
  const quoting = (length: number): Claim[] =>
    claims(1, { bindings: [run.at('/rows/0/note', 'q'.repeat(length), UNITS, 'unit_counts')] });

  it.each([
    ['claims', (size: number) => ({ claims: claims(size) }), 200],
    ['bindings of a claim', (size: number) => ({ claims: claims(1, { bindings: bindings(size) }) }), 20],
    ['characters of a statement', (size: number) => ({ claims: claims(1, { statement: 'a'.repeat(size) }) }), 1_000],
    ['characters of a quote', (size: number) => ({ claims: quoting(size) }), 1_000],
    ['characters of a subject', (size: number) => ({ claims: claims(1, { subject: 'a'.repeat(size) }) }), 200],
    ['assessments', (size: number) => ({ assessments: many(size, (index) => assessment(`unit-${index}`)) }), 100],
    ['limitations', (size: number) => ({ limitations: many(size, (index) => `No data of kind ${index}.`) }), 50],
  ])('[C7] refuses one more than the most %s', (_name, documentOf, most) => {
    expect(parses(documentOf(most))).toBe(true);
    expect(parses(documentOf(most + 1))).toBe(false);
  });
});
