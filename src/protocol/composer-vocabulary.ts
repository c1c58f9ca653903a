/**
 * The closed vocabulary of a composer's own words. What is not here cannot be said between claims: nothing that denies, blames,
 * quantifies, dates, doubts, addresses the reader or tells a story, no name and no number. Refusing a word is cheap, since
 * code words the same claims without a composer.
 */
function setOf(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(' ')));
}

/** Connectives and words of pointing, in headings and around placements. */
const CONNECTIVES = setOf(
  'a an the this that these those it its they their them itself such same other others another',
  'and or also too besides plus as well further furthermore moreover additionally likewise similarly again together',
  'addition additional more detail details in on at of for from to with by within into about across among between over',
  'regarding concerning alongside along per via under here there below above beside beneath what which where when how',
  'is are was were be been being has have had does did do',
  'shows show showed shown showing finds find found finding findings sees see seen stands stand stood says say said',
  'states state stated reads read reports report reported records record recorded logs log logged observes observe observed',
  'observation observations measures measure measured measurement measurements lists list listed notes note noted counts count',
  'counted gives give given follows follow following comes come supports support supported concerns concern describes describe',
  'described looks look looked looking checks check checked checking compares compare compared comparison comparing matches match matched',
  'next namely specifically particular particularly respectively overall general generally',
  'evidence claim claims fact facts statement statements line lines entry entries row rows record records citation citations',
  'source sources output outputs result results query queries tool tools telemetry data log logs metric metrics trace traces span spans',
  'event events message messages service services component components system systems error errors',
  'share shares number numbers value values level levels pattern patterns template templates sequence sequences flow flows',
  'window windows baseline baselines period periods time times interval range ranges incident question answer',
);

/** Words of neutral headings. Around a placement most of them would judge the claim beside them, so they are refused there. */
const HEADING_WORDS = setOf(
  'summary summaries overview synopsis conclusion conclusions background context scope introduction section part parts',
  'happened happening happens occurred occur changed changes change changing moved moves movement appeared disappeared',
  'affected affect impact impacts effect effects symptom symptoms signs sign signal signals indications indication',
  'cause causes candidate candidates likely contributing factor factors trigger triggers',
  'ruled out excluded alternatives alternative test tests tested testing verification verified verify verifying validation control controls',
  'normal steady unchanged usual else before during after since around timeline chronology order',
  'limit limits limitation limitations key main relevant related supporting important notable primary secondary',
  'behaviour behavior analysis diagnosis investigation assessment assessments information remaining current put',
);

/** Headings that pass whole, though they hold words that would not pass in another order. */
const WHOLE_HEADINGS: ReadonlySet<string> = new Set([
  'what happened',
  'what may have set it off',
  'how the cause was put to the test',
  'what else changed',
  'what was affected',
  'what moved without convincing',
  'what was ruled out',
  'what was found normal',
  'what was asked about',
]);

const WORD_GAP = /[\s.,;:()—–-]+/u;

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(WORD_GAP)
    .filter((word) => word !== '');
}

/** Whether a heading is one of those that pass whole, whatever its words are taken alone. */
export function isWholeHeading(heading: string): boolean {
  return WHOLE_HEADINGS.has(heading.trim().toLowerCase());
}

/** Whether every word may stand in a heading. */
export function isHeadingProse(heading: string): boolean {
  return isWholeHeading(heading) || wordsOf(heading).every((word) => CONNECTIVES.has(word) || HEADING_WORDS.has(word));
}

/** Whether every word may stand around a placed claim. */
export function isConnectiveProse(text: string): boolean {
  return wordsOf(text).every((word) => CONNECTIVES.has(word));
}

const CLEARING = setOf('ruled excluded normal steady unchanged usual');
const BLAMING = setOf('cause causes trigger triggers candidate candidates factor factors contributing');
const TESTING = setOf('test tests tested testing check checks checked verification verified verify verifying validation control');

/** What a heading says of the part that its claims play: of a cause, of something cleared, of both at once, or nothing. */
export function partNamedBy(heading: string): 'cause' | 'cleared' | 'both' | null {
  const words = wordsOf(heading);
  const clears = words.some((word) => CLEARING.has(word));
  const blames = words.some((word) => BLAMING.has(word));
  if (clears && blames) return 'both';
  if (clears) return 'cleared';
  return blames && !words.some((word) => TESTING.has(word)) ? 'cause' : null;
}
