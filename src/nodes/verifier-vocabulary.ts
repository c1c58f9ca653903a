import { findWords } from '../protocol/claim-fidelity/english-words';

/**
 * What a verifier may say in its own words: where to look next and what was not to be seen. The words are neutral, so that no
 * sentence of them can assert a state, a cause or an amount, nor ask for more than looking. What must deny or weigh to be true,
 * such as that there is no baseline, passes as a whole sentence alone.
 */
function setOf(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}

const NEUTRAL_WORDS = setOf(
  'a an the this that these those its their and or also of in on at for from to with by between within across about around',
  'before after during against over into per as which what where who when how whether again then next',
  'look looks looked looking check checks checked checking compare compares compared comparing comparison repeat repeated repeating',
  'narrow narrowed widen widened extend extended collect collects collected collecting gather gathered record recorded recording',
  'inspect inspected review reviewed read reading examine examined find finding search searched query queries queried trace tracing',
  'measure measured measuring watch monitor monitored observe observed list listed ask asking see seen start starting open given',
  'include included consult correlate align confirm with identify locate',
  'log logs metric metrics span spans event events telemetry data line lines records entry entries row rows field fields message messages',
  'sample samples quote quotes quoted output outputs result results evidence tool tools source dashboard dashboards chart charts profile profiles',
  'deploy deploys deployment deployments release releases rollout rollouts change changes version versions configuration configurations',
  'setting settings flag flags schedule history timeline calendar window windows baseline baselines period periods range ranges interval',
  'time times clock zone service services component components system systems host hosts node nodes instance instances container containers',
  'pod pods cluster region database databases cache queue queues pool pools connection connections lock locks transaction transactions thread',
  'threads request requests response responses call calls caller callers callee callees endpoint endpoints client clients dependency dependencies',
  'owner owners team teams operator operators holder holders runbook latency duration durations rate rates share shares count counts',
  'level levels pattern patterns template templates sequence sequences flow flows usage saturation memory disk network processor storage',
  'error errors timeout timeouts retry retries incident question missing available',
  'other same earlier later longer shorter wider narrower finer raw full complete incoming outgoing own',
);

/** A sentence with one of these asserts something, which it may only of what was not to be seen. */
const ASSERTING = setOf('is are was were be been');
const UNSEEN = setOf('missing open available');
const LONGEST_SENTENCE = 500;

/** Sentences that pass whole, in lower case and without the last full stop. */
const WHOLE_SENTENCES: ReadonlySet<string> = new Set([
  'there is no baseline, so nothing could be compared with normal times',
  'no baseline was given; the stretch before the window may have been troubled already',
  'some of what matched was left out of the output of a tool',
  'the telemetry does not cover the whole window',
  'a tool failed, so part of the look is missing',
  'a tool was refused, so part of the look is missing',
  'the budget of tool calls was used up before the look was complete',
  'the time of the run was over before the look was complete',
  'something moved, but in too few requests to tell it from chance',
  'the baseline was in trouble itself, so it is no picture of normal times',
  'the leading candidates lie close to each other',
  'what points at the leading service is not shown by its own records',
  'the query that could disprove the leading cause has no result',
  'what was found normal could not be judged for every service',
  'some records could not be read, so their absence proves little',
  'some files could not be read, so what they hold is unknown',
  'only part of the telemetry could be narrowed to what was asked about',
  'nothing of the part that was asked about was found, so nothing can be said of it',
  'what was asked about could not be told from its own records',
  'part of what was put forward did not pass the check against the recorded output',
  'compare the change before the incident with what ran before it; rolling it back is the cheapest test',
  'ask again with a baseline from a time that is known to be healthy',
  'it is open whether the same change also occurs inside the baseline',
  'lines of the leading service itself that show its failure are missing',
  'nobody looked at metrics',
  'nobody looked at spans',
  'nobody looked at changes',
]);

const PROSE_ONLY = /^[A-Za-z\s.,;:()—–-]*$/;
const WORD_GAP = /[\s.,;:()—–-]+/u;
/** Characters that go on with a name: a subject beside one of them is part of a longer name. */
const NAME_GOES_ON = /[\p{L}\p{N}\p{M}_/@]|[-.:][\p{L}\p{N}_]/u;

/** Whether a sentence of a verifier holds nothing but neutral words and the subjects that it may name. */
export function isNeutralSentence(sentence: string, subjects: readonly string[]): boolean {
  if (sentence.length > LONGEST_SENTENCE) return false;
  if (WHOLE_SENTENCES.has(sentence.trim().replace(/\.$/, '').toLowerCase())) return true;
  const own = withoutSubjects(sentence, subjects);
  if (!PROSE_ONLY.test(own)) return false;
  const { causal, negates, quantifies } = findWords(own);
  if (causal || negates || quantifies) return false;
  const words = own
    .toLowerCase()
    .split(WORD_GAP)
    .filter((word) => word !== '');
  if (words.some((word) => ASSERTING.has(word)) && !words.some((word) => UNSEEN.has(word))) return false;
  return words.every((word) => NEUTRAL_WORDS.has(word) || ASSERTING.has(word));
}

/** The sentence with each subject that stands in it as a whole name blanked out, the longest first. */
function withoutSubjects(sentence: string, subjects: readonly string[]): string {
  let rest = sentence;
  for (const subject of [...new Set(subjects)].filter((name) => name !== '').sort((a, b) => b.length - a.length)) {
    const parts = rest.split(subject);
    rest = parts.reduce((before, after) => {
      const isWhole = !NAME_GOES_ON.test(before.slice(-1)) && !/[-.:]$/.test(before) && !goesOn(after);
      return before + (isWhole ? ' ' : subject) + after;
    });
  }
  return rest;
}

function goesOn(after: string): boolean {
  const match = NAME_GOES_ON.exec(after.slice(0, 2));
  return match !== null && match.index === 0;
}
