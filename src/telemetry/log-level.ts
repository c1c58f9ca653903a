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
  '(?m)^(?:Traceback \\(most recent call last\\)|panic: |\\s+at [\\w.$<>/]+\\(|(?:Caused by: )?(?:[a-z_]\\w*\\.)+[A-Z]\\w*(?:Exception|Error)\\b|[A-Z]\\w*(?:Exception|Error):)';

/** SQL for a level in its usual word: numbers of pino and bunyan, single letters and abbreviations are spelt out; '' for none. */
export function spelledLevel(expression: string): string {
  const plain = `upper(trim(${expression}))`;
  const cases = Object.entries(ALIASES).map(
    ([level, aliases]) => `WHEN ${plain} IN (${aliases.map((a) => `'${a}'`).join(', ')}) THEN '${level}'`,
  );
  return `coalesce(CASE ${cases.join(' ')} ELSE left(${plain}, 20) END, '')`;
}

/**
 * SQL for the level that a line's own text shows, '' for none: a level in capitals within its first 200 characters, else
 * `level=…`, `[level]` or a leading `level:`, else ERROR where the text holds a stack trace. A lower-case word in running
 * text is no level.
 */
export function levelOfText(message: string): string {
  const head = `left(${message}, 200)`;
  const marked = `(?i)(?:(?:level|lvl|severity)["']*\\s*[=:]\\s*["']*(?:${LOOSE})\\b|[\\[<](?:${LOOSE})[\\]>]|^\\s*(?:${LOOSE})\\s*:)`;
  const capitals = `regexp_extract(${head}, '\\b(${WORDS})\\b', 1)`;
  const found = `regexp_extract(regexp_extract(${head}, '${marked.replaceAll("'", "''")}'), '(?i)\\b(${LOOSE})\\b', 1)`;
  return `CASE WHEN ${capitals} <> '' THEN ${capitals} WHEN ${found} <> '' THEN upper(${found})
    WHEN regexp_matches(left(${message}, 2000), '${TRACEBACK}') THEN 'ERROR' ELSE '' END`;
}

/** SQL for whether a spelt-out level is one of an error line. */
export function isErrorLevel(level: string): string {
  return `${level} IN (${ERROR_LEVELS.map((name) => `'${name}'`).join(', ')})`;
}
