/**
 * Every number that decides whom the analyst suspects and what it calls normal, in one place so that all of them can be moved.
 * Each is a share, a ratio, a likelihood ratio or a calibrated score, so none hangs on how much traffic there is; only the
 * fewest records that anything can be said of are counts. `G` is the log-likelihood ratio of a two-by-two table (10.8 is a
 * chance of one in a thousand, 8 of one in two hundred).
 */
export const THRESHOLDS = Object.freeze({
  logs: Object.freeze({
    /** A change of flow: least rise of its share, and G from which it is one, and from which it is sure though no error line shows it. */
    flowRise: 0.2,
    flowG: 8,
    sureFlowG: 10.8,
    /** Flows or lines below which nothing is said. */
    fewest: 4,
    /** A rise of an error share or of a kind of line: more than chance, and more than healthy services do. */
    chanceG: 10.8,
    noiseRise: 0.02,
    /** A rise of an error share that is beyond doubt, beside compared flows and without them. */
    errorG: 20,
    errorRise: 0.1,
    errorGAlone: 40,
    errorRiseAlone: 0.03,
    /** Share of a service's new error lines that must name a callee before it counts as blamed. */
    blameShare: 0.5,
    /** Score over the leader's from which the order of causes is left to who failed first, where no trace tells it. */
    closeWithoutTraces: 0.5,
    /** Share of a service's changed flows that must go wrong in it first. */
    firstShare: 0.5,
  }),
  surge: Object.freeze({
    /** A kind of line of any level that became much of its service's lines: rise of its share, and how many times the former one. */
    rise: 0.05,
    factor: 5,
    /** Lines like this that a baseline must have room for, at the share of the window, before their lack there says anything. */
    expected: 20,
  }),
  spans: Object.freeze({
    /** Score of the span analysis from which a service is one to act on. */
    verdict: 0.6,
    /** Departure of a caller beside that of the leader below it, up to which it only waits. */
    waits: 0.35,
    /** Time that a caller loses beside that of its callee, from which not all of it is lost in those calls. */
    ownLoss: 1.5,
    /** Precision of a callee beside that of its caller, from which its calls are as slow for everybody. */
    sameCalls: 0.9,
    /** How many times the usual gap a gap of the baseline is, from which somebody unseen stands between caller and callee. */
    hopGap: 3,
    /** Part of the lost own time in calls that nobody answers, from which it may be an untraced callee's. */
    unanswered: 0.5,
    /** Rise of the share of slow traces from which a service is slowed. */
    slowRise: 0.1,
  }),
  metrics: Object.freeze({
    /** Score from which a series is unusual for its own baseline. */
    unusual: 1.5,
    /** Weight of a departure of one row only, of load, which moves without anything being wrong, and of what stands alone in time. */
    singleRow: 0.5,
    traffic: 0.2,
    alone: 0.3,
    /** Logarithm of a score from which more of it says no more. */
    cap: 4,
    /** Interquartile ranges of the baseline from which a departure counts in full. */
    fullSpreads: 1.5,
    /** Part of the window from which a departure counts in full: what is over at once was not the incident. */
    minExtent: 0.2,
    /** Values of a baseline, and share of the values that other series have, from which a series counts in full. */
    fullBaseline: 30,
    minCoverage: 0.8,
    /** Weight of a service from which it departs at all, departs surely, and is one to act on. */
    departs: 0.3,
    sure: 0.6,
    verdict: 1.15,
    /** Most of a departure that a callee accounts for, and one that stands between the same callers. */
    explainedPart: 0.9,
    twinPart: 0.7,
    /** Weight behind a service that shows nothing, seen from a departing entry; unreachable from one; and where no request comes. */
    behindGap: 0.7,
    detached: 0.4,
    uncalled: 0.5,
  }),
  families: Object.freeze({
    /** What spans add to a candidate that metrics accuse. */
    spansBehindMetrics: 0.5,
    /** Share of a departure that another service accounts for, from which it is taken for its symptom. */
    explained: 0.5,
    /** Part of a verdict from which a departure is worth a hint, and from which a second candidate may have contributed. */
    hint: 0.75,
    contributing: 0.5,
    /** Strength beside a leader by metrics below which a series of another service is no part of it. */
    besideLeader: 0.25,
    /** Strength of the runner-up beside the leader from which the two are close. */
    close: 0.8,
  }),
  silence: Object.freeze({
    /** Rate of a service beside its former one, less what all services lost, at or below which it has fallen silent. */
    left: 0.1,
    /** The same at or below which it has faded: enough to believe those who say that it fails them. */
    faded: 0.5,
    /** Records that were to be expected of it, below which its silence means nothing. */
    expected: 10,
    /** Records that could not be read, beside those of the baseline, from which a missing record proves no silence. */
    unreadable: 0.1,
    /** Share of the halves of the baseline that its rate must hold in the lesser one to count as steady. */
    steady: 0.5,
  }),
  claims: Object.freeze({
    /** Change inside the baseline beside that of the incident, from which the incident's is nothing special. */
    sameChange: 0.5,
    /** Two medians within this factor are worded as normal. */
    normalFactor: 2,
    /** A warning that comes less than this times as often as before is steady. */
    steadyFactor: 1.5,
    /** Part of all alarming lines from which a kind of line, or a service, is loud; share of error lines of a loud service. */
    loudPart: 0.1,
    loudShare: 0.2,
    /** Rise of a share, of a time beside what it was, of a metric in spreads and beside what it was, that bears out harm. */
    harmfulRise: 0.1,
    harmfulPart: 0.25,
    harmfulSpreads: 1.5,
    metricNoise: 0.02,
  }),
});

type Moved<T> = { readonly [K in keyof T]: T[K] extends number ? number : Moved<T[K]> };

/** The table's shape with any numbers in it. */
export type Thresholds = Moved<typeof THRESHOLDS>;
