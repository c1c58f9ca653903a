import { pointerOf } from './file-layout';
import { lineShape, type FieldPattern } from './line-shapes';
import { raisedLevel, scaledLevel, spelledLevel } from './log-level';
import type { RawColumns } from './log-staging';
import { sqlText } from './log-tables';
import type { TabularLogs, TextLogs } from './telemetry-mapping';
import { serviceOfRule } from './telemetry-reader';

function nullable(column: string): string {
  return `nullif(${column}, '')`;
}

/** Most lines have no tail, and joining copies each. */
function withTail(line: string): string {
  return `CASE WHEN tail IS NULL THEN ${line} ELSE ${line} || tail END`;
}

function levelText({ level }: Pick<TabularLogs, 'level'>, message: string, at: (name: string) => string): string {
  if (level === undefined) return `''`;
  if (typeof level === 'string') return spelledLevel(at(level));
  if ('scale' in level) return scaledLevel(at(level.column), level.scale);
  return spelledLevel(`regexp_extract(${message}, ${sqlText(level.pattern)}, 1)`);
}

/** Fields of a JSON line inside a message go before those of the record around it. */
function withInner(raw: RawColumns, inner: NonNullable<TabularLogs['inner']>, line: string): RawColumns {
  const of = (name: string): string => nullable(`json_extract_string(inner_line, ${sqlText(pointerOf(name))})`);
  const inside = (expression: string): string =>
    expression.replaceAll('inner_line', `CASE WHEN starts_with(ltrim(${line}), '{') AND json_valid(${line}) THEN ${line} END`);
  const first = (name: string | undefined, own: string, as = (text: string): string => text): string =>
    name === undefined ? own : `coalesce(${nullable(as(inside(of(name))))}, ${own})`;
  const member = (name: string | undefined): string | undefined => (name === undefined ? undefined : inside(of(name)));
  const message = first(inner.message, raw.message);
  return {
    ...raw,
    message: raw.message,
    maskable: message,
    level: raisedLevel(first(inner.level, raw.level, spelledLevel), member(inner.status), member(inner.failure)),
    service: first(inner.service, raw.service),
    trace: first(inner.trace, raw.trace),
    span: first(inner.span, raw.span),
  };
}

/**
 * SQL over a table's cells.
 * @param fallbackService SQL for the service of a file that names none.
 */
export function tabularColumns(
  entry: Omit<TabularLogs, 'files' | 'format'>,
  fallbackService: string,
  at: (name: string) => string,
): RawColumns {
  const cell = at(entry.message);
  const unwrapped =
    entry.unwrap === undefined
      ? cell
      : `CASE WHEN json_valid(${cell}) THEN coalesce(json_extract_string(${cell}, ${sqlText(pointerOf(entry.unwrap))}), ${cell}) ELSE ${cell} END`;
  const line = `coalesce(rtrim(${unwrapped}, chr(10) || chr(13)), '')`;
  const message = entry.join_lines === true ? withTail(line) : line;
  const optional = (name: string | undefined): string => (name === undefined ? 'NULL' : nullable(at(name)));
  const own = (name: string | undefined): string | undefined => (name === undefined ? undefined : at(name));
  const raw: RawColumns = {
    time: at(entry.time.column),
    message,
    maskable: message,
    level: raisedLevel(levelText(entry, message, at), own(entry.status), own(entry.failure)),
    service: serviceOfRule(entry.service, fallbackService, at),
    trace: optional(entry.trace),
    span: optional(entry.span),
    instance: optional(entry.instance),
  };
  return entry.inner === undefined ? raw : withInner(raw, entry.inner, line);
}

/** SQL over the lines of a text file, of which `line` is a record's first and `tail` the others. */
export function textColumns(entry: TextLogs, fallbackService: string): RawColumns {
  const { fields, levelScale } = lineShape(entry.text_pattern);
  const extract = ({ pattern, group }: FieldPattern): string =>
    group === 'rest' ? `regexp_replace(line, ${sqlText(pattern)}, '')` : `regexp_extract(line, ${sqlText(pattern)}, ${group})`;
  const optional = (field: FieldPattern | undefined): string => (field === undefined ? 'NULL' : nullable(extract(field)));
  const given = entry.service === undefined ? fallbackService : sqlText(entry.service.constant);
  const spelled = (text: string): string => (levelScale === undefined ? spelledLevel(text) : scaledLevel(text, levelScale));
  return {
    time: extract(fields.time),
    message: withTail('line'),
    maskable: withTail(fields.message === undefined ? 'line' : extract(fields.message)),
    level: fields.level === undefined ? `''` : spelled(extract(fields.level)),
    service: fields.service === undefined ? given : `coalesce(${nullable(extract(fields.service))}, ${given})`,
    trace: optional(fields.trace),
    span: optional(fields.span),
    instance: 'NULL',
  };
}
