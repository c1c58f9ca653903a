import type { RunnableConfig } from '@langchain/core/runnables';
import { Injectable } from '@nestjs/common';
import { ExecutorAgent } from '../../ports/agent-invoker.port';
import { ToolRunner } from '../../ports/tool-runner.port';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { Assessment, ExecutorEvidence } from '../../protocol/executor-evidence';
import { AGENT_INPUTS, readAgentInput } from './agent-inputs';
import { EvidenceWriter } from './evidence-writer';
import { lookAgain } from './evidence-round';
import { clearSymptom, ruleOut } from './clearing';
import type { Candidate, Outcome } from './family-ranking';
import { checkOf, claimsAgainst, hasBaseline, rangesOf } from './findings';
import { lookAround, weigh, type Weighing } from './first-round';
import type { Seen } from './seen';
import { isBaselineSteady, settleLeader, type Tested } from './leader-check';
import { withoutBaseline } from './no-baseline';
import { absentPart, tellFollowUp } from './follow-up-claims';
import { isPart } from './follow-up-scope';
import { type Answer, TelemetryLook } from './telemetry-look';
import { silenceClaims, steadySilences } from './silence';
import { withSurges } from './surges';
import { THRESHOLDS, type Thresholds } from './thresholds';
import { triggersOf } from './triggers';

const MOST_CAUSES = 3;
const MOST_SYMPTOMS = 4;
const MOST_HINTS = 3;

/**
 * Runs the plan's calls, follows what they show, and writes typed, bound claims with their assessments. It cites what a tool
 * counted and never what a tool ranked, asks for each cause the query that would disprove it, and claims nothing when it
 * could not look.
 */
@Injectable()
export class AnalystExecutorAgent extends ExecutorAgent {
  constructor(private readonly tools: ToolRunner) {
    super();
  }

  /** A subclass may move them, to measure what hangs on each. */
  protected get thresholds(): Thresholds {
    return THRESHOLDS;
  }

  async invoke(input: string, config: RunnableConfig): Promise<string> {
    const { diagnosis_query, diagnosis_plan, planner_mode, evidence_retry_context } = readAgentInput(
      AGENT_INPUTS.executor,
      input,
    );
    const look = new TelemetryLook(this.tools, config, this.thresholds, diagnosis_query.scope);
    const evidence =
      planner_mode === 'EVIDENCE_GAP_ONLY' && evidence_retry_context !== null
        ? await lookAgain(diagnosis_query, diagnosis_plan, evidence_retry_context, look)
        : await this.firstRound(diagnosis_query, await lookAround(diagnosis_query, diagnosis_plan, look), look);
    return JSON.stringify(evidence);
  }

  private async firstRound(query: DiagnosisQuery, seen: Seen, look: TelemetryLook): Promise<ExecutorEvidence> {
    noteLimits(query, seen, look);
    const reason = whyNothingWasSeen(seen);
    const writer = new EvidenceWriter(look.thresholds);
    if (reason !== null) {
      absentPart(seen, look, writer);
      return documentOf(writer, [], look, reason);
    }
    if (query.baseline === null || !isCompared(seen)) {
      const counted = withoutBaseline(seen, writer);
      return documentOf(writer, await tellFollowUp(seen, counted, look, writer), look, null);
    }
    const weighing = await weigh(seen, look);
    const assessments = await assess(weighing, look, writer);
    return documentOf(
      writer,
      await tellFollowUp(weighing.seen, assessments, look, writer),
      look,
      'Nothing that was seen could be stated.',
    );
  }
}

/** Whether any family has something to compare with: lines that nothing precedes say little, but spans and metrics may. */
function isCompared({ shares, spans, metrics }: Seen): boolean {
  if ((shares?.rows.length ?? 0) === 0 || shares?.rows.some(hasBaseline) === true) return true;
  const byTraces = spans?.rows.some(({ baseline_traces }) => (baseline_traces ?? 0) > 0) ?? false;
  return byTraces || (metrics?.rows.some(({ baseline_rows }) => (baseline_rows ?? 0) > 0) ?? false);
}

async function assess(byFamilies: Weighing, look: TelemetryLook, writer: EvidenceWriter): Promise<Assessment[]> {
  const { weighing, unexplained } = withSurges(byFamilies);
  const { seen, weighed } = weighing;
  const parts: Omit<Assessment, 'rank'>[] = [];
  const settled = await settleLeader(weighed.causes.concat(brokenSymptoms(weighed)), seen, look);
  const leader = settled.leader?.candidate;
  const disproved = settled.disproved.map(({ candidate }) => candidate);
  const others = weighed.causes.filter((candidate) => candidate !== leader && !disproved.includes(candidate));
  if (settled.leader !== null && leader !== undefined) {
    parts.push({ subject: leader.service, role: 'cause', claim_ids: claimsOfLeader(settled.leader, weighing, writer) });
    const second = others[0];
    if (second !== undefined && isClose(second, leader, look.thresholds.families)) look.note('CANDIDATES_CLOSE');
  }
  for (const suspect of others.slice(0, MOST_CAUSES - 1)) {
    parts.push({ subject: suspect.service, role: 'contributing', claim_ids: claimsAgainst('harm', suspect, seen, writer) });
  }
  const isOfRestless = (of: string): boolean => leader === undefined && disproved.some(({ service }) => service === of);
  const symptoms = weighed.symptoms.filter(({ of }) => !isOfRestless(of));
  for (const { suspect, of } of symptoms.slice(0, MOST_SYMPTOMS)) {
    if (parts.some(({ subject }) => subject === suspect.service)) continue;
    const affected = claimsAgainst('symptom', suspect, seen, writer);
    const cause = weighed.causes.find(({ service }) => service === of);
    parts.push({
      subject: suspect.service,
      role: 'symptom',
      claim_ids: [...affected, ...clearSymptom(suspect, cause, weighing, writer)],
    });
  }
  if (leader === undefined && weighed.hints.length > 0) {
    if (weighed.hints.some(({ service }) => !unexplained.has(service))) look.note('BELOW_THRESHOLD');
    for (const suspect of weighed.hints.slice(0, MOST_HINTS)) claimsAgainst('hint', suspect, seen, writer);
  }
  for (const { candidate, control } of settled.disproved)
    parts.push({ subject: candidate.service, role: 'ruled_out', claim_ids: control.map((claim) => writer.add('clear', claim)) });
  const fallen = leader === undefined ? await steadySilences(seen, look, true) : [];
  for (const silence of fallen) {
    if (parts.some(({ subject }) => subject === silence.service)) continue;
    parts.push({ subject: silence.service, role: 'symptom', claim_ids: silenceClaims('symptom', silence, seen, writer) });
  }
  const cleared = ruleOut(weighing, writer).filter(({ subject }) => !fallen.some(({ service }) => service === subject));
  parts.push(...cleared);
  if (leader === undefined) {
    parts.push(...rangesOf(weighing, writer, new Set(cleared.map(({ subject }) => subject))));
  }
  // Nothing, or a series alone, means little against a baseline that was in trouble itself.
  const isWeak = leader === undefined || leader.standing === 'metrics' || leader.standing === 'none';
  const isRestless = leader === undefined && disproved.length > 0;
  if (isRestless || (isWeak && !(await isBaselineSteady(seen.query, look)))) look.note('BASELINE_UNSTEADY');
  return parts.filter(({ claim_ids }) => claim_ids.length > 0).map((part, index) => ({ rank: index + 1, ...part }));
}

/** Symptoms that broke or lost time by their own records: candidates as well, should what they were put down to be disproved. */
function brokenSymptoms({ symptoms }: Outcome): Candidate[] {
  return symptoms.map(({ suspect }) => suspect).filter(({ standing }) => !['metrics', 'none'].includes(standing));
}

/** Two candidates of one standing whose strength differs little. Flows and lines are no common measure. */
function isClose(second: Candidate, leader: Candidate, limits: Thresholds['families']): boolean {
  return (
    second.standing === leader.standing && second.byFlows === leader.byFlows && second.strength > leader.strength * limits.close
  );
}

function claimsOfLeader({ candidate: leader, control }: Tested, { seen, weighed }: Weighing, writer: EvidenceWriter): string[] {
  const harm = claimsAgainst('harm', leader, seen, writer);
  // Blame alone stands in the lines of those who blame; without it nothing would be said of a silent service.
  const blamers = weighed.symptoms.filter(({ of }) => of === leader.service).map(({ suspect }) => suspect);
  const blame =
    harm.length === 0 ? blamers.slice(0, 1).flatMap((suspect) => claimsAgainst('symptom', suspect, seen, writer)) : [];
  const check = checkOf(leader, harm.length > 0, seen, writer);
  const controls = control.map((claim) => writer.add('control', claim));
  return [...harm, ...blame, ...check, ...controls, ...triggersOf(leader, seen, writer)];
}

function noteLimits(query: DiagnosisQuery, seen: Seen, look: TelemetryLook): void {
  const empty = (seen.shares?.rows.length ?? 0) > 0 && !seen.shares?.rows.some(hasBaseline);
  if (query.baseline === null || empty) look.note('NO_BASELINE');
  else if (query.baseline.source !== 'request') look.note('BASELINE_PRECEDING_WINDOW');
  if (seen.sequences !== null && !seen.sequences.by_trace) look.note('NO_TRACE_IDS');
  // A part without lines was looked for all the same.
  if (!hasRows(seen.shares, seen.patterns, seen.sequences) && !isPart(query.scope)) look.note('NO_LOGS');
  if (!hasRows(seen.metrics)) look.note('NO_METRICS');
  if (!hasRows(seen.spans)) look.note('NO_SPANS');
  if (seen.recorded === null && seen.changes.length === 0) look.note('NO_CHANGES');
}

function hasRows(...answers: readonly (Answer<unknown> | null)[]): boolean {
  return answers.some((answer) => (answer?.rows.length ?? 0) > 0);
}

/** Why there can be no claims: nothing answered, or the window holds no record. */
function whyNothingWasSeen({ sequences, shares, patterns, metrics, spans }: Seen): string | null {
  if ([shares, patterns, sequences, metrics, spans].every((answer) => answer === null)) return 'No tool could answer.';
  if (shares === null && !hasRows(patterns, sequences, metrics, spans))
    return 'The lines of the services could not be counted, and no change was seen.';
  const lines = (shares?.rows ?? []).reduce((sum, { lines: count }) => sum + count, 0);
  const calls = (spans?.rows ?? []).reduce((sum, { traces }) => sum + traces, 0);
  return lines + calls === 0 && !hasRows(patterns, sequences, metrics) ? 'The window holds no record.' : null;
}

/** The document: with claims, or saying why there are none. */
function documentOf(
  writer: EvidenceWriter,
  assessments: Assessment[],
  look: TelemetryLook,
  whyNone: string | null,
): ExecutorEvidence {
  const none = writer.claims.length === 0;
  return {
    schema: 'executor_evidence_v2',
    claims: writer.claims,
    assessments: none ? [] : assessments,
    limitations: look.limitations(),
    no_evidence: none ? { reason: whyNone ?? 'Nothing that was seen could be stated.' } : null,
  };
}
