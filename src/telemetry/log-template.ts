/** What stands in a template where the line had something variable. */
export const MASK = '<*>';

/** Longest part of a line that a template is made of, in characters. */
const TEMPLATE_CHARACTERS = 500;
const SITE_CHARACTERS = 200;
const EXCEPTION_CHARACTERS = 2000;

/** Private-use characters stand in for the mask and the call site, so that no text of a line is taken for them. */
const HOLE = 'chr(57345)';
const SITE_MARK = 'chr(57344)';

const VARIABLE = [
  `"(?:[^"\\\\]|\\\\.)*"`,
  `'[^'\\s]*'`,
  `\\d{4}-\\d\\d-\\d\\d(?:[T ]\\d\\d:\\d\\d(?::\\d\\d)?(?:[.,]\\d+)?(?:Z|[+-]\\d\\d:?\\d\\d)?)?`,
  `\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?`,
  `[\\w.-]*\\d[\\w.:-]*`,
]
  .map((pattern) => `(?:${pattern})`)
  .join('|');
const GROUPED = `\\[[^\\[\\]]*,[^\\[\\]]*\\]|\\([^()]*[,=][^()]*\\)|\\{[^{}]*\\}`;
const VALUE = `(=\\s*|：\\s*|[A-Za-z_]:)[^\\s,;|\\])}/]+`;
const SOURCE_FILE = '\\.(?:java|kt|scala|go|py|js|ts|rb|cs|cpp|cc|c|rs|php|ex):[0-9]';
const SITE = `(?:[A-Za-z_][\\w.$\\[]*|\\])+#[0-9]+|[\\w/-]+${SOURCE_FILE}+`;
const EXCEPTION = `\\b((?:[a-z_]\\w*\\.)*[A-Z]\\w*(?:Exception|Error))\\b`;

function literal(pattern: string): string {
  return `'${pattern.replaceAll("'", "''")}'`;
}

/** SQL for the place in the code that a line names (`Name#12`, `file.go:34`), '' for none. */
export function callSite(message: string): string {
  const head = `left(${message}, ${SITE_CHARACTERS})`;
  return `CASE WHEN contains(${head}, '#') OR regexp_matches(${head}, ${literal(SOURCE_FILE)})
    THEN regexp_extract(${head}, ${literal(SITE)}) ELSE '' END`;
}

/** SQL for the first exception or error class that a line or its stack trace names, '' for none. */
export function exceptionName(message: string): string {
  return `CASE WHEN contains(${message}, 'Exception') OR contains(${message}, 'Error')
    THEN regexp_extract(left(${message}, ${EXCEPTION_CHARACTERS}), ${literal(EXCEPTION)}, 1) ELSE '' END`;
}

/**
 * SQL for the shape of a message's first line, the part of masking that has to look at every line: quoted values, dates and
 * times, clocks, and every token that holds a digit (numbers with units, ids, hex, UUIDs, addresses, path segments) become
 * holes. The call site keeps its line number.
 */
export function lineShapeText(message: string, site: string): string {
  const start = `ltrim(${message})`;
  const line = `CASE WHEN contains(${message}, chr(10)) OR length(${message}) > ${TEMPLATE_CHARACTERS}
    THEN left(split_part(${start}, chr(10), 1), ${TEMPLATE_CHARACTERS}) ELSE ${start} END`;
  const text = `CASE WHEN ${site} = '' THEN ${line} ELSE replace(${line}, ${site}, ${SITE_MARK}) END`;
  return `regexp_replace(${text}, ${literal(VARIABLE)}, ${HOLE}, 'g')`;
}

/**
 * SQL for the masked text of a shape, of which there are far fewer than lines. Masks, in this order: bracketed lists and
 * objects, twice for one level of nesting; values after `=` and `key:`.
 * Masking of known variable tokens before grouping is the preprocessing of Drain (He, Zhu, Zheng, Lyu: "Drain: An Online
 * Log Parsing Approach with Fixed Depth Tree", ICWS 2017), with a fixed list in place of user-given expressions.
 */
export function maskedText(shape: string, site: string): string {
  let text = shape;
  for (const pattern of [GROUPED, GROUPED]) text = `regexp_replace(${text}, ${literal(pattern)}, ${HOLE}, 'g')`;
  text = `regexp_replace(${text}, ${literal(VALUE)}, '\\1' || ${HOLE}, 'g')`;
  text = `trim(regexp_replace(${text}, '\\s+', ' ', 'g'))`;
  return `replace(replace(${text}, ${SITE_MARK}, ${site}), ${HOLE}, '${MASK}')`;
}

/** A distinct masked text and how many lines have it. */
export interface MaskedKind {
  readonly kind_id: number;
  readonly service: string;
  readonly level: string;
  readonly site: string;
  readonly exception: string;
  readonly masked: string;
  readonly lines: number;
}

/** Texts with fewer lines than this are compared with the others of their group. */
const RARE_LINES = 4;
/** Share of equal tokens from which a rare text joins another (Drain's similarity threshold). */
const SIMILARITY = 0.7;
/** Most clusters that a rare text is compared with, so that free text without any pattern stays affordable. */
const MAX_COMPARED = 200;

function joinTokens(tokens: readonly string[]): string {
  return tokens.filter((token, at) => token !== MASK || tokens[at - 1] !== MASK).join(' ');
}

/** What two token lists share: position by position when they are equally long, else their common beginning and end. */
function common(a: readonly string[], b: readonly string[]): string[] {
  if (a.length === b.length) return a.map((token, at) => (token === b[at] ? token : MASK));
  const shortest = Math.min(a.length, b.length);
  let head = 0;
  while (head < shortest && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < shortest - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return [...a.slice(0, head), MASK, ...a.slice(a.length - tail)];
}

function similarity(a: readonly string[], b: readonly string[]): number {
  return a.filter((token, at) => token === b[at]).length / Math.max(1, a.length);
}

interface Cluster {
  tokens: string[];
  readonly members: MaskedKind[];
}

function byLines(a: MaskedKind, b: MaskedKind): number {
  return b.lines - a.lines || (a.masked < b.masked ? -1 : 1);
}

function clustersOf(kinds: readonly MaskedKind[], fromOneSite: boolean): Cluster[] {
  const clusters: Cluster[] = [];
  for (const kind of [...kinds].sort(byLines)) {
    const tokens = kind.masked.split(' ');
    let best: Cluster | undefined;
    if (fromOneSite) best = clusters[0];
    else if (kind.lines < RARE_LINES) {
      let most = SIMILARITY;
      for (const cluster of clusters.slice(0, MAX_COMPARED)) {
        const alike = cluster.tokens.length === tokens.length ? similarity(cluster.tokens, tokens) : 0;
        if (alike >= most && (best === undefined || alike > most)) [most, best] = [alike, cluster];
      }
    }
    if (best === undefined) clusters.push({ tokens, members: [kind] });
    else {
      best.tokens = common(best.tokens, tokens);
      best.members.push(kind);
    }
  }
  return clusters;
}

/**
 * Templates by kind id. Kinds of one service, level and exception that name the same call site come from one statement of
 * the code and share a template; without a call site, rare kinds join the most similar one of equal length. It works on
 * distinct masked texts only, never on lines.
 */
export function mergeTemplates(kinds: readonly MaskedKind[]): Map<number, string> {
  const groups = new Map<string, MaskedKind[]>();
  for (const kind of kinds) {
    const key = JSON.stringify([kind.service, kind.level, kind.exception, kind.site]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [kind]);
    else group.push(kind);
  }
  const templates = new Map<number, string>();
  for (const group of groups.values()) {
    for (const cluster of clustersOf(group, group[0]?.site !== '')) {
      const text = joinTokens(cluster.tokens);
      const exception = cluster.members[0]?.exception ?? '';
      const template = exception === '' || text.includes(exception) ? text : `${text} ${MASK} ${exception}`;
      for (const member of cluster.members) templates.set(member.kind_id, template);
    }
  }
  return templates;
}
