import type { Candidate } from './family-ranking';
import { placedPatterns, type Weighing } from './first-round';
import type { PlacedPattern } from './line-ranking';
import type { Seen } from './seen';
import { gStatistic } from './significance';
import { bareSuspect, tellsOfCalls } from './suspects';

/** Words that tell of a failure where no level does. */
const TELLS_OF_FAILURE =
  /(?:^|[^\p{L}])(?:errors?|errored|fail(?:ed|s|ures?|ing)?|panic(?:ked)?|fatal|traceback|crash(?:ed|es)?|aborted|refused|unavailable|unreachable|timed[ -]?out|timeouts?|out of memory|segfault|[\w$.]*(?:Exception|Error))(?![\p{L}\d])/iu;
/** Counts of no failure and words that take a failure back. */
const TELLS_OF_NONE =
  /\b(?:no|zero|0|without(?: any)?) (?:errors?|fail(?:ed|ures?)|exceptions?|timeouts?)\b|\b(?:errors?|fail(?:ed|ures?)|timeouts?)["']?\s?[:=]\s?["']?(?:0|null|none|false|\d+\s?m?s)\b/giu;

function tellsOfFailure({ row }: PlacedPattern): boolean {
  return TELLS_OF_FAILURE.test(row.sample.replace(TELLS_OF_NONE, ' '));
}

/** Kinds of line, whatever their level, that were rare or unknown in the baseline and now make up much of their service's lines. */
function surgingLines(seen: Seen): PlacedPattern[] {
  const { logs, surge } = seen.thresholds;
  return placedPatterns(seen)
    .filter(({ row }) => {
      const baseline = seen.shares?.rows.find(({ service }) => service === row.service)?.baseline_lines ?? 0;
      if (row.baseline_count === null || row.baseline_share === null || row.count < logs.fewest) return false;
      if (row.share - row.baseline_share < surge.rise || row.share < row.baseline_share * surge.factor) return false;
      const total = Math.round(row.count / row.share);
      const counts = { baseline_count: row.baseline_count, baseline_total: baseline, count: row.count, total };
      return baseline * row.share >= surge.expected && gStatistic(counts) >= logs.chanceG;
    })
    .sort((a, b) => Number(tellsOfFailure(b)) - Number(tellsOfFailure(a)) || b.row.count - a.row.count);
}

/** What kinds of line without a telling level amount to: a weighing with their services in it, and those that stay unexplained. */
export interface WithSurges {
  readonly weighing: Weighing;
  readonly unexplained: ReadonlySet<string>;
}

/**
 * Where nothing else leads, takes in services of which a new kind of line makes up much: as the cause where its words tell of
 * a failure, else as what moved without convincing. It refuses to overrule any family that names a cause itself.
 */
export function withSurges(weighing: Weighing): WithSurges {
  const { seen, weighed } = weighing;
  if (weighed.causes.length > 0) return { weighing, unexplained: new Set() };
  const lines = surgingLines(seen);
  const services = [...new Set(lines.map(({ row }) => row.service))];
  const candidates = services.map((service): Candidate => {
    const own = lines.filter(({ row }) => row.service === service);
    const suspect = weighing.suspects.find((known) => known.service === service) ?? bareSuspect(service, undefined);
    const share = weighing.signs.get(service)?.share ?? null;
    const signs = { service, tier: null, score: 0, share, severe: [], warnings: own };
    const none = { spans: null, metrics: null, silence: null };
    return { ...suspect, signs, standing: 'logs', strength: Math.max(...own.map(({ row }) => row.share)), ...none };
  });
  const failing = candidates
    .filter(({ signs }) => signs?.warnings.some(tellsOfFailure) === true)
    .sort((a, b) => callsOf(a, services, seen) - callsOf(b, services, seen) || onset(a) - onset(b) || b.strength - a.strength);
  const [leader, ...affected] = failing;
  const rest = candidates.filter((candidate) => !failing.includes(candidate));
  const taken = new Set(services);
  return {
    weighing: {
      ...weighing,
      weighed: {
        causes: leader === undefined ? [] : [leader],
        symptoms: [
          ...weighed.symptoms.filter(({ suspect }) => suspect.service !== leader?.service),
          ...affected.map((suspect) => ({ suspect, of: leader?.service ?? '' })),
        ],
        hints: [...rest, ...weighed.hints.filter(({ service }) => !taken.has(service))],
      },
    },
    unexplained: new Set(rest.map(({ service }) => service)),
  };
}

function callsOf(candidate: Candidate, services: readonly string[], { thresholds }: Seen): number {
  return Number(tellsOfCalls(candidate, services, thresholds.logs) === true);
}

function onset({ signs }: Candidate): number {
  const times = (signs?.warnings ?? []).flatMap(({ row }) => (row.first_seen === null ? [] : [Date.parse(row.first_seen)]));
  return Math.min(Number.MAX_SAFE_INTEGER, ...times);
}
