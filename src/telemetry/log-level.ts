const WORDS = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|FATAL|CRITICAL|PANIC|ALERT|EMERGENCY';
const LOOSE = `${WORDS}|ERR|CRIT|INFORMATION|EMERG`;

/** Levels of error lines. */
export const ERROR_LEVELS = ['ERROR', 'FATAL', 'CRITICAL', 'SEVERE', 'PANIC', 'ALERT', 'EMERGENCY'] as const;

const ALIASES: Readonly<Record<string, readonly string[]>> = {
  TRACE: ['10', 'T', 'VERBOSE'],
  DEBUG: ['20', 'D'],
  INFO: ['30', 'I', 'INFORMATION', 'INFORMATIONAL'],
  WARN: ['40', 'W', 'WARNING'],
  ERROR: ['50', 'E', 'ERR'],
  FATAL: ['60', 'F'],
  CRITICAL: ['CRIT', 'C'],
  EMERGENCY: ['EMERG'],
};

const TRACEBACK =
  '^(?:Traceback \\(most recent call last\\)|panic: |\\s+at [\\w.$<>/]+\\(|(?:Caused by: )?(?:[a-z_]\\w*\\.)+[A-Z]\\w*(?:Exception|Error)\\b|[A-Z]\\w*(?:Exception|Error):)';

/** What a process says when it dies or is killed: at the start of a line or right behind its head, or in the kernel's own words. */
const DEATH =
  '(?:(?:^|[:\\]|FPZ\\d-] )(?:panic: |(?:PHP )?[Ff]atal error: |Traceback \\(most recent call last\\)|segfault\\b|Segmentation fault\\b)|\\bsegfault at |\\b[Oo]ut of memory: Kill|\\boom-kill)';

const NUMBERED = '"level": ?([1-6]0)\\b';

/** What a column of stack traces holds where there is none. */
const NO_FAILURE = `'', 'null', 'none', 'false', '-', '[]', '{}'`;

/** What numbers of a level mean, where they are not those of pino and bunyan. */
export const LEVEL_SCALES = ['syslog', 'otlp', 'http_status'] as const;
export type LevelScaleName = (typeof LEVEL_SCALES)[number];

/** Severities of RFC 5424, 0 to 7. */
const SYSLOG_LEVELS = ['EMERGENCY', 'ALERT', 'CRITICAL', 'ERROR', 'WARN', 'NOTICE', 'INFO', 'DEBUG'] as const;

/** SQL for a level in its usual word: numbers of pino and bunyan, single letters and abbreviations are spelt out; '' for none. */
export function spelledLevel(expression: string): string {
  const plain = `upper(trim(${expression}))`;
  const cases = Object.entries(ALIASES).map(
    ([level, aliases]) => `WHEN ${plain} IN (${aliases.map((a) => `'${a}'`).join(', ')}) THEN '${level}'`,
  );
  return `coalesce(CASE ${cases.join(' ')} ELSE left(${plain}, 20) END, '')`;
}

/**
 * SQL for the level that a number stands for, '' for none: a severity of RFC 5424 (the rest of a priority divided by 8 too), a severity
 * number of OpenTelemetry (1 to 24, or its name), or an HTTP status (5xx an error, 4xx a warning, else information).
 */
export function scaledLevel(expression: string, scale: LevelScaleName): string {
  const text = `trim(${expression})`;
  const number = `try_cast(${text} AS INTEGER)`;
  if (scale === 'http_status')
    return `CASE WHEN ${number} BETWEEN 500 AND 599 THEN 'ERROR' WHEN ${number} BETWEEN 400 AND 499 THEN 'WARN' WHEN ${number} BETWEEN 100 AND 399 THEN 'INFO' ELSE '' END`;
  if (scale === 'syslog') {
    const names = SYSLOG_LEVELS.map((name) => `'${name}'`).join(', ');
    return `coalesce(CASE WHEN ${number} >= 0 THEN [${names}][${number} % 8 + 1] ELSE ${spelledLevel(expression)} END, '')`;
  }
  const names = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].map((name) => `'${name}'`).join(', ');
  return `coalesce(CASE WHEN ${number} BETWEEN 1 AND 24 THEN [${names}][(${number} - 1) // 4 + 1] WHEN ${number} IS NULL
    THEN ${spelledLevel(`regexp_replace(${text}, '(?i)^(?:SEVERITY_NUMBER_)?(UNSPECIFIED)?([A-Z]*?)[234]?$', '\\2')`)} END, '')`;
}

/**
 * SQL for the level that a line's own text shows, '' for none: a level in capitals within its first 200 characters, else
 * `level=…`, `[level]` or a leading `level:`, else a `"level"` with a number of pino, else ERROR where the text holds a stack
 * trace, or tells of a panic, a segmentation fault or a kill for want of memory. A lower-case word in running text is no level.
 */
export function levelOfText(message: string): string {
  const head = `left(${message}, 200)`;
  const marked = `(?i)(?:(?:level|lvl|severity)["']*\\s*[=:]\\s*["']*(?:${LOOSE})\\b|[\\[<](?:${LOOSE})[\\]>]|^\\s*(?:${LOOSE})\\s*:)`;
  const capitals = `regexp_extract(${head}, '\\b(?:${WORDS})\\b')`;
  const found = `regexp_extract(regexp_extract(${head}, '${marked.replaceAll("'", "''")}'), '(?i)\\b(${LOOSE})\\b', 1)`;
  return `CASE WHEN ${capitals} <> '' THEN ${capitals} WHEN ${found} <> '' THEN upper(${found})
    WHEN contains(${message}, '"level":') AND regexp_matches(${message}, '${NUMBERED}') THEN ${spelledLevel(`regexp_extract(${message}, '${NUMBERED}', 1)`)}
    WHEN regexp_matches(left(${message}, 2000), '(?m)${TRACEBACK}|${DEATH}') THEN 'ERROR' ELSE '' END`;
}

/** SQL for whether a spelt-out level is one of an error line. */
export function isErrorLevel(level: string): string {
  return `${level} IN (${ERROR_LEVELS.map((name) => `'${name}'`).join(', ')})`;
}

/**
 * SQL for a level that an HTTP status or a stack trace beside it raises, never lowers: 5xx and a stack trace make an error of what
 * is none, 4xx a warning where there is no level.
 */
export function raisedLevel(level: string, status: string | undefined, failure: string | undefined): string {
  const number = `try_cast(trim(${status ?? ''}) AS INTEGER)`;
  const failed = [
    ...(status === undefined ? [] : [`${number} BETWEEN 500 AND 599`]),
    ...(failure === undefined ? [] : [`lower(trim(${failure})) NOT IN (${NO_FAILURE})`]),
  ];
  if (failed.length === 0) return level;
  const warned = status === undefined ? '' : `WHEN ${level} = '' AND ${number} BETWEEN 400 AND 499 THEN 'WARN'`;
  return `CASE WHEN ${isErrorLevel(level)} THEN ${level} WHEN ${failed.join(' OR ')} THEN 'ERROR' ${warned} ELSE ${level} END`;
}
