import { AnalystExecutorAgent } from '../../src/agents/analyst/analyst-executor.agent';
import { AnalystPlannerAgent } from '../../src/agents/analyst/analyst-planner.agent';
import { AnalystVerifierAgent } from '../../src/agents/analyst/analyst-verifier.agent';
import { quoteOf } from '../../src/agents/analyst/evidence-writer';
import type { LogPatternRow } from '../../src/ports/telemetry-source.port';
import { findQuotedSpan } from '../../src/protocol/claim-fidelity/quoted-span';
import { claimSentence } from '../../src/protocol/claim-sentence';
import type { Claim, ExecutorEvidence } from '../../src/protocol/executor-evidence';
import type { JsonValue } from '../../src/protocol/json-value';
import { parseExecutorEvidence } from '../../src/protocol/parse-executor-evidence';
import {
  ALL_TOOLS,
  changeRow,
  CONFIG,
  isAboutIncident,
  patternRow,
  queryOf,
  type Script,
  ScriptedToolRunner,
  sequenceRow,
  shareRow,
  valueAt,
} from './scripted-tools';

interface Looked {
  readonly evidence: ExecutorEvidence;
  readonly textsOf: (claim: Claim) => string[];
}

/** A recorded value as the gate matches it: a text as it is, a number as it is written. */
const shown = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value));

async function look(script: Script): Promise<Looked> {
  const tools = new ScriptedToolRunner(script, ALL_TOOLS, false);
  const input = { diagnosis_query: queryOf(), planner_mode: 'INITIAL', evidence_retry_context: null };
  const diagnosis_plan: unknown = JSON.parse(await new AnalystPlannerAgent(tools).invoke(JSON.stringify(input)));
  const raw = await new AnalystExecutorAgent(tools).invoke(JSON.stringify({ ...input, diagnosis_plan }), CONFIG);
  const parsed = parseExecutorEvidence(raw);
  if (!parsed.ok) throw new Error(parsed.problems.join('; '));
  const textsOf = ({ bindings }: Claim): string[] =>
    bindings.map(
      ({ source_invocation_id, raw_path, quote }) => quote ?? shown(valueAt(tools.outputs.get(source_invocation_id), raw_path)),
    );
  return { evidence: parsed.value, textsOf };
}

async function verdictOn({ evidence, textsOf }: Looked): Promise<{ verdict: string; missing: string }> {
  const { claims, assessments, limitations } = evidence;
  const input = {
    diagnosis_query: queryOf(),
    verified_executor_output: { claims: claims.map((claim) => ({ ...claim, statement: 'said' })), assessments, limitations },
    verified_evidence: claims.flatMap((claim) =>
      claim.bindings.map(({ source_invocation_id, tool_name, raw_path }, index) => {
        const matched_text = textsOf(claim)[index] ?? '';
        return { claim_id: claim.claim_id, source_invocation_id, tool_name, raw_path, matched_text };
      }),
    ),
    gatekeeper_audit: null,
    verdict_ceiling: 'PASS',
    evidence_retry_context: null,
  };
  const told = JSON.parse(await new AnalystVerifierAgent().invoke(JSON.stringify(input))) as {
    verdict: string;
    allowed: { missing_information: string[] };
  };
  return { verdict: told.verdict, missing: told.allowed.missing_information.join(' ') };
}

/** One service without an error line, of which a kind of line at INFO has a share of its lines. */
const KIND_OF_LINE =
  (row: Partial<LogPatternRow> & Pick<LogPatternRow, 'sample'>): Script =>
  (tool, args) => {
    if (tool === 'error_share') return { rows: [shareRow('kiosk'), shareRow('lid')] };
    if (tool !== 'log_patterns' || args['contains'] !== null || !isAboutIncident(args)) return { rows: [] };
    const share = row.share ?? 0.2;
    return { rows: [patternRow({ service: 'kiosk', level: 'INFO', share, count: share * 1000, ...row })] };
  };

const rolesOf = ({ evidence }: Looked): Record<string, string> =>
  Object.fromEntries(evidence.assessments.map(({ subject, role }) => [subject, role]));
const idsOf = ({ evidence }: Looked): string[] =>
  evidence.claims.filter(({ subject }) => subject === 'kiosk').map(({ claim_id }) => claim_id);

describe('kinds of line that grew without an alarming level', () => {
  it.each([
    ['INFO', 'request errored'],
    [null, 'panic: index out of range'],
  ])('names the service of a new kind of line at level %s that tells of a failure', async (level, sample) => {
    const looked = await look(KIND_OF_LINE({ level, sample }));
    expect(rolesOf(looked)).toEqual({ kiosk: 'cause' });
    expect(looked.evidence.claims.find(({ claim_id }) => claim_id === 'harm-1')?.assertion?.op).toBe('appeared');
    expect(await verdictOn(looked)).toEqual({ verdict: 'PASS', missing: '' });
  });

  it.each([
    ['batch taken from the mirror', {}],
    ['batch ended with 0 errors', {}],
    ['batch taken from the mirror', { baseline_count: 40, baseline_share: 0.02 }],
  ])('calls nothing normal, but names no cause, where the line tells of no failure: %s %j', async (sample, part) => {
    const looked = await look(KIND_OF_LINE({ sample, ...part }));
    expect(rolesOf(looked)).toEqual({});
    expect(idsOf(looked)).toEqual(['hint-1']);
    const { verdict, missing } = await verdictOn(looked);
    expect(verdict).toBe('LOW_CONFID');
    expect(missing).toContain('A kind of line that was rare or unknown');
    expect(looked.evidence.limitations).not.toContain('BELOW_THRESHOLD');
  });

  it.each([
    ['is a trickle', { share: 0.01 }],
    ['was there before', { baseline_count: 300, baseline_share: 0.15 }],
  ])('clears a service whose line %s', async (_name, part) => {
    const looked = await look(KIND_OF_LINE({ sample: 'request errored', ...part }));
    expect(idsOf(looked)).toEqual(['range-1']);
    expect(await verdictOn(looked)).toEqual({ verdict: 'PASS', missing: '' });
  });

  it('says nothing of a new line where the baseline had no room for it', async () => {
    const script: Script = (tool, args) =>
      tool === 'error_share'
        ? { rows: [shareRow('kiosk', 0, 1000, 0, 30), shareRow('lid')] }
        : KIND_OF_LINE({ sample: 'request errored' })(tool, args);
    expect(idsOf(await look(script))).toEqual(['range-1']);
  });
});

/** The edge and the app fail alike; what tells them apart is a clock of whole seconds and the words of their lines. */
const EDGE_AND_APP =
  (edgeAt: string, appAt: string): Script =>
  (tool, args) => {
    const about = isAboutIncident(args);
    if (tool === 'error_share') return { rows: ['gate', 'till'].map((name) => shareRow(name, about ? 400 : 0)) };
    if (!about || (args['contains'] ?? null) !== null) return { rows: [] };
    if (tool === 'log_sequences')
      return {
        rows: [
          sequenceRow({ service: 'gate', kind: 'error_line', first_seen: edgeAt }),
          sequenceRow({ service: 'till', kind: 'error_line', first_seen: appAt }),
        ],
      };
    if (tool !== 'log_patterns') return { rows: [] };
    const edge = { first_seen: edgeAt, last_seen: '2026-05-04T14:19:58.000Z' };
    return {
      rows: [
        patternRow({ service: 'gate', sample: '"POST /pay HTTP/1.1" 500 157', ...edge }),
        patternRow({
          service: 'till',
          sample: 'TypeError: cannot read the coin',
          first_seen: appAt,
          last_seen: '2026-05-04T14:19:58.391Z',
        }),
      ],
    };
  };

describe('clocks of unlike steps', () => {
  it('do not let an edge that counts whole seconds fail first', async () => {
    const looked = await look(EDGE_AND_APP('2026-05-04T14:05:00.000Z', '2026-05-04T14:05:00.070Z'));
    expect(rolesOf(looked)).toEqual({ till: 'cause', gate: 'symptom' });
  });

  it('leave an order that is longer than their step', async () => {
    const looked = await look(EDGE_AND_APP('2026-05-04T14:05:00.000Z', '2026-05-04T14:05:07.070Z'));
    expect(rolesOf(looked)).toMatchObject({ gate: 'cause' });
  });
});

describe('a recorded change', () => {
  it.each([
    [4, 'till: time from the change to the start of the window is 4 min'],
    [-9, 'till: time of the change is 2026-05-04T14:14:00.000Z'],
  ])('%d minutes before the window is told by a duration only where there is one', async (minutes, words) => {
    const script: Script = (tool, args) => {
      if (tool === 'changes') return { rows: [changeRow('till', minutes)] };
      return EDGE_AND_APP('2026-05-04T14:16:07.000Z', '2026-05-04T14:16:00.070Z')(tool, args);
    };
    const { evidence, textsOf } = await look(script);
    const trigger = evidence.claims.filter(({ claim_id }) => claim_id.startsWith('trigger-'));
    expect(trigger.map((claim) => claimSentence(claim, textsOf(claim)))).toEqual([expect.stringContaining(words)]);
  });
});

describe('the quotation of a sample', () => {
  it.each([
    [
      'the last cause of a trace',
      'order 7 failed\njava.lang.IllegalStateException: no stock\n\tat a.B.c(B.java:3)\nCaused by: x.Timeout: slow\n\tat d\nCaused by: y.Lock: held by 4\n\t... 3 more',
      'Caused by: y.Lock: held by 4',
    ],
    [
      'the end of a traceback',
      'task failed\nTraceback (most recent call last):\n  File "a.py", line 3, in run\n    save(x)\nOSError: [Errno 28] No space left\n',
      'OSError: [Errno 28] No space left',
    ],
    ['the exception', 'order 7 failed\nTypeError: no coin in slot\n    at pay (a.js:3:1)', 'TypeError: no coin in slot'],
    ['the exception behind a long opening', `${'field=value '.repeat(20)}TypeError: no coin`, 'TypeError: no coin'],
    ['the first line where no line names a failure', 'opened the till\nclosed again', 'opened the till'],
    ['a line of two hundred characters', 'word '.repeat(38) + 'the end', 'word '.repeat(38) + 'the end'],
  ])('holds %s, verbatim', (_name, sample, quote) => {
    expect(quoteOf(sample)).toBe(quote);
    expect(findQuotedSpan(sample, quote)).toHaveProperty('found');
  });
});
