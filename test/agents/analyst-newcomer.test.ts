import { AnalystExecutorAgent } from '../../src/agents/analyst/analyst-executor.agent';
import { AnalystPlannerAgent } from '../../src/agents/analyst/analyst-planner.agent';
import { quoteOf } from '../../src/agents/analyst/evidence-writer';
import type { ErrorShareRow } from '../../src/ports/telemetry-source.port';
import { findQuotedSpan } from '../../src/protocol/claim-fidelity/quoted-span';
import type { ExecutorEvidence } from '../../src/protocol/executor-evidence';
import { parseExecutorEvidence } from '../../src/protocol/parse-executor-evidence';
import {
  CONFIG,
  isAboutIncident,
  patternRow,
  queryOf,
  type Script,
  ScriptedToolRunner,
  sequenceRow,
  shareRow,
} from './scripted-tools';

async function evidenceOf(script: Script, part: Parameters<typeof queryOf>[0] = {}, byTrace = true): Promise<ExecutorEvidence> {
  const tools = new ScriptedToolRunner(script, undefined, byTrace);
  const input = { diagnosis_query: queryOf(part), planner_mode: 'INITIAL', evidence_retry_context: null };
  const diagnosis_plan: unknown = JSON.parse(await new AnalystPlannerAgent(tools).invoke(JSON.stringify(input)));
  const raw = await new AnalystExecutorAgent(tools).invoke(JSON.stringify({ ...input, diagnosis_plan }), CONFIG);
  const parsed = parseExecutorEvidence(raw);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  return parsed.value;
}

const rolesOf = ({ assessments }: ExecutorEvidence): Record<string, string> =>
  Object.fromEntries(assessments.map(({ subject, role }) => [subject, role]));
const idsOf = ({ claims }: ExecutorEvidence, role: string): string[] =>
  claims.map(({ claim_id }) => claim_id).filter((id) => id.startsWith(`${role}-`));

const seenAt = (ms: number): string => `2026-05-04T14:05:04.${ms}Z`;

/** `payer` fails, `clerk` names it, `porter` at the edge tells of a failing call; cuts begin at the edge. */
const CHAIN =
  (porterLine: string, isDeployed = false): Script =>
  (tool, args) => {
    if (!isAboutIncident(args))
      return { rows: tool === 'error_share' ? ['porter', 'clerk', 'payer'].map((name) => shareRow(name)) : [] };
    if (tool === 'log_sequences')
      return {
        rows: [
          sequenceRow({ service: 'porter', score: 92, first_seen: seenAt(100) }),
          sequenceRow({ service: 'clerk', score: 91, first_seen: seenAt(150) }),
          sequenceRow({ service: 'payer', score: 90, first_seen: seenAt(200) }),
        ],
      };
    if (tool === 'error_share') return { rows: [shareRow('porter', 120), shareRow('clerk', 120), shareRow('payer', 120)] };
    if (args['contains'] === 'deploy' && isDeployed)
      return { rows: [patternRow({ service: 'clerk', level: 'INFO', sample: 'deployment finished just now', count: 1 })] };
    if (args['contains'] !== null) return { rows: [] };
    return {
      rows: [
        patternRow({ service: 'porter', sample: porterLine, first_seen: seenAt(395) }),
        patternRow({ service: 'clerk', sample: 'got 502 from payer', first_seen: seenAt(385) }),
        patternRow({ service: 'payer', sample: 'certificate expired yesterday', first_seen: seenAt(375) }),
      ],
    };
  };

const withoutBaselineRow = (row: ErrorShareRow, lines: number | null): ErrorShareRow => ({
  ...row,
  baseline_lines: lines,
  baseline_error_lines: lines,
  baseline_error_share: lines,
});

describe('what a newcomer met', () => {
  it.each([
    ['no baseline', { baseline: null }, null],
    ['a baseline that holds no line', {}, 0],
  ] as const)('calls no service with error lines normal when there is %s', async (_name, part, lines) => {
    const script: Script = (tool, args) => {
      if (tool === 'error_share')
        return { rows: [withoutBaselineRow(shareRow('gate', 338, 10_000), lines), shareRow('lid')].slice(0, 1) };
      if (tool === 'log_patterns' && args['contains'] === null)
        return {
          complete: false,
          rows: [patternRow({ service: 'gate', sample: 'no answer from the vault', baseline_count: lines })],
        };
      return { rows: [] };
    };
    const evidence = await evidenceOf(script, part);
    expect(rolesOf(evidence)).toEqual({ gate: 'symptom' });
    expect(idsOf(evidence, 'range')).toEqual([]);
    expect(JSON.stringify(evidence.claims)).toContain('no answer from the vault');
    expect(evidence.limitations).toContain('NO_BASELINE');
  });

  it('calls a single service with error lines that the baseline does not know no normal one', async () => {
    const script: Script = (tool) =>
      tool === 'error_share' ? { rows: [withoutBaselineRow(shareRow('gate', 338), 0), shareRow('lid')] } : { rows: [] };
    const evidence = await evidenceOf(script);
    expect(rolesOf(evidence)).toEqual({ gate: 'symptom' });
    expect(evidence.claims.filter(({ subject }) => subject === 'gate').map(({ claim_id }) => claim_id)).toEqual(['symptom-1']);
  });

  it.each(['upstream request did not succeed', 'the basket stayed closed'])(
    'without trace ids takes the service that others name and that erred first for the cause, the edge for a symptom: %s',
    async (line) => {
      expect(rolesOf(await evidenceOf(CHAIN(line), {}, false))).toEqual({ payer: 'cause', clerk: 'symptom', porter: 'symptom' });
    },
  );

  it('with trace ids takes a caller for a symptom unless a failure of its own shows first', async () => {
    const own: Script = (tool, args) =>
      tool === 'log_sequences' && isAboutIncident(args)
        ? { rows: [sequenceRow({ service: 'payer', score: 95 }), sequenceRow({ service: 'porter', score: 60 })] }
        : CHAIN('the basket stayed closed')(tool, args);
    const calls: Script = (tool, args) =>
      tool === 'log_patterns' ? CHAIN('upstream did not succeed')(tool, args) : own(tool, args);
    expect(rolesOf(await evidenceOf(own))).toMatchObject({ payer: 'cause', porter: 'contributing' });
    expect(rolesOf(await evidenceOf(calls))).toMatchObject({ payer: 'cause', porter: 'symptom' });
  });

  it('shows the deployment of a symptom and when each erred, and clears nobody by what accuses the cause', async () => {
    const { claims } = await evidenceOf(CHAIN('upstream did not succeed', true), {}, false);
    expect(claims.filter(({ claim_id }) => claim_id.startsWith('clear-'))).toEqual([]);
    const timed = claims.filter(({ bindings }) => bindings.some(({ raw_path }) => raw_path.endsWith('/first_seen')));
    const own = timed
      .filter(({ claim_id }) => claim_id.startsWith('symptom-'))
      .map(({ subject, assertion }) => [subject, assertion?.op]);
    expect(own).toContainEqual(['clerk', 'count']);
    expect(own).toContainEqual(['clerk', 'appeared']);
    expect(timed.some(({ claim_id, subject }) => claim_id.startsWith('harm-') && subject === 'payer')).toBe(true);
  });

  it('clears a deployed and a noisy bystander by line and rate, and lists neither where nothing is wrong', async () => {
    const herrings: Script = (tool, args) => {
      if (tool === 'error_share' && isAboutIncident(args))
        return { rows: [shareRow('payer', 120), shareRow('spoon'), shareRow('lid')] };
      if (args['contains'] === 'deploy')
        return { rows: [patternRow({ service: 'lid', level: 'INFO', sample: 'deployment finished just now', count: 1 })] };
      if (tool !== 'log_patterns' || args['contains'] !== null) return { rows: [] };
      const warning = { level: 'WARN', count: 200, baseline_count: 400, share: 0.2, baseline_share: 0.2 };
      const rate = { rate_per_min: 13.4, baseline_rate_per_min: 13.3 };
      return { rows: [patternRow({ service: 'spoon', sample: 'cache ratio low', ...warning, ...rate })] };
    };
    const evidence = await evidenceOf(herrings);
    expect(rolesOf(evidence)).toEqual({ payer: 'cause', lid: 'ruled_out', spoon: 'ruled_out' });
    const fields = evidence.claims
      .filter(({ claim_id }) => claim_id.startsWith('clear-'))
      .map(({ subject, bindings }) => [subject, bindings[0]?.raw_path.split('/').at(-1)]);
    expect(fields).toEqual([
      ['lid', 'baseline_error_share'],
      ['lid', 'count'],
      ['spoon', 'baseline_error_share'],
      ['spoon', 'baseline_rate_per_min'],
    ]);
    const healthy: Script = (tool, args) =>
      tool === 'error_share' ? { rows: [shareRow('payer'), shareRow('spoon'), shareRow('lid')] } : herrings(tool, args);
    expect((await evidenceOf(healthy)).assessments).toEqual([]);
  });

  it('does not take a window for empty when the lines could not be counted', async () => {
    const evidence = await evidenceOf((tool) => (tool === 'error_share' ? { fails: 'ERROR' } : { rows: [] }));
    expect(evidence.no_evidence?.reason).toEqual(expect.not.stringContaining('no log record'));
  });

  it.each([
    ['a long line without spaces', `{"a":"${'x'.repeat(60)}","b":"${'y'.repeat(60)}","c":"${'z'.repeat(90)}"}`],
    ['a long line with spaces', 'word '.repeat(60)],
    ['one long first word', `ab ${'q'.repeat(300)}`],
    ['one long token', 'q'.repeat(300)],
  ])('quotes %s at token edges or not at all', (_name, line) => {
    const quote = quoteOf(line);
    expect(quote === null || 'found' in findQuotedSpan(line, quote)).toBe(true);
    expect(quote === null).toBe(line.includes('q'));
  });
});
