import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { Claim } from '../../protocol/executor-evidence';
import { controlOf, errorShareRose } from './control-check';
import { EvidenceWriter } from './evidence-writer';
import type { Candidate } from './family-ranking';
import type { Seen } from './seen';
import { isSlowed, measureControl } from './measure-findings';
import { errorShareQuestion, halvesOf, spansQuestion } from './questions';
import { silenceControl } from './silence';
import type { TelemetryLook } from './telemetry-look';
import { ERROR_SHARE, METRIC_ANOMALIES, SPAN_ANALYSIS } from './tool-rows';

/** Candidates that are put to the test before one leads. */
const MOST_TESTED = 3;

type ControlClaim = Omit<Claim, 'claim_id'>;

/** A candidate with what the query that could disprove it showed. */
export interface Tested {
  readonly candidate: Candidate;
  readonly control: readonly ControlClaim[];
}

export interface Settled {
  /** The first candidate that its control did not disprove. Null without one, unless the disproved first is accused by more than metrics. */
  readonly leader: Tested | null;
  /** Candidates before it, each with the control that shows the same departure without an incident. */
  readonly disproved: readonly Tested[];
}

/**
 * Tests candidates in their order, at most three, each by the cheapest query that would disprove it. One that metrics accuse
 * gives way when it is disproved: its series is restless, and when all are, nobody leads. It refuses to pass over one whose requests broke or slowed in the
 * baseline too: then the baseline is in trouble itself, and whoever comes next is no better.
 */
export async function settleLeader(causes: readonly Candidate[], seen: Seen, look: TelemetryLook): Promise<Settled> {
  const disproved: Tested[] = [];
  for (const candidate of causes.slice(0, MOST_TESTED)) {
    if (candidate.standing === 'none' && disproved.length > 0) break;
    const tested = { candidate, control: await controlClaims(candidate, seen, look) };
    if (!tested.control.some(showsDeparture)) return { leader: tested, disproved };
    disproved.push(tested);
    if (candidate.standing !== 'metrics') break;
  }
  // A cause of logs or spans that its control disproves is told as such; series that are as restless without an incident are none.
  const [first] = disproved;
  if (first === undefined || first.candidate.standing === 'metrics') return { leader: null, disproved };
  return { leader: first, disproved: [] };
}

async function controlClaims(candidate: Candidate, seen: Seen, look: TelemetryLook): Promise<ControlClaim[]> {
  const trial = new EvidenceWriter(look.thresholds);
  if (candidate.silence !== null) await silenceControl(candidate.silence, seen, look, trial);
  else if (candidate.standing === 'logs') await controlOf(candidate, seen.query, look, trial);
  else await measureControl(candidate, seen.query, seen, look, trial);
  return trial.claims.map(({ claim_id: _id, ...claim }) => claim);
}

/** Metrics and rates can fall into trouble; everything else rises into it. */
function showsDeparture({ assertion, bindings }: ControlClaim): boolean {
  if (assertion?.op === 'rose' || assertion?.op === 'appeared') return true;
  const falls = assertion?.unit === 'per_minute' || bindings[0]?.tool_name === METRIC_ANOMALIES.name;
  return falls && assertion?.op === 'fell';
}

/** Whether the baseline is steady: no service errs or is slow clearly more often in its second half. True when no tool could tell. */
export async function isBaselineSteady({ baseline }: DiagnosisQuery, look: TelemetryLook): Promise<boolean> {
  if (baseline === null) return true;
  const { first, second } = halvesOf(baseline);
  const shares = look.has(ERROR_SHARE) ? await look.ask(ERROR_SHARE, errorShareQuestion(second, first)) : null;
  const spans = look.has(SPAN_ANALYSIS) ? await look.ask(SPAN_ANALYSIS, spansQuestion(second, first)) : null;
  const errs = (shares?.rows ?? []).some((row) => errorShareRose(row, look.thresholds.logs));
  return !errs && !(spans?.rows ?? []).some((row) => isSlowed(row, look.thresholds));
}
