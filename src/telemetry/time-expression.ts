import { sqlText } from './log-tables';
import type { TimeRule } from './telemetry-mapping';

/** Digits from a unit to nanoseconds. */
const EPOCH_DIGITS: Readonly<Record<string, number>> = { epoch_s: 9, epoch_ms: 6, epoch_us: 3, epoch_ns: 0 };

/** Characters of `2026-05-04T10:00:00Z`, the shortest time that the engine reads as it is. */
const PLAIN_UTC_LENGTH = 20;

function nanosecondsOfOffset(zone: string): string {
  const [hours, minutes] = zone.slice(1).split(':').map(Number) as [number, number];
  return `${zone.startsWith('-') ? '-' : ''}${(hours * 60 + minutes) * 60}000000000`;
}

/** Local time to instant: fixed offsets keep nanoseconds, IANA zones microseconds. */
function inZone(local: string, zone: string): string {
  if (zone === 'UTC') return `epoch_ns(try_cast(${local} AS TIMESTAMP_NS))`;
  if (/^[+-]/.test(zone)) return `(epoch_ns(try_cast(${local} AS TIMESTAMP_NS)) - (${nanosecondsOfOffset(zone)}))`;
  return `epoch_ns(timezone(${sqlText(zone)}, try_cast(${local} AS TIMESTAMP)))`;
}

/** Digits are moved as text: decimals wide enough for nanoseconds cost the engine a hundred times as much. */
function scaled(text: string, digits: number): string {
  const moved = `split_part(${text}, '.', 1)${digits === 0 ? '' : ` || rpad(split_part(${text}, '.', 2), ${digits}, '0')`}`;
  return `CASE WHEN regexp_full_match(${text}, '[+-]?\\d+(\\.\\d*)?') THEN try_cast(${moved} AS BIGINT)
    ELSE try_cast(try_cast(${text} AS DOUBLE) * 1e${digits} AS BIGINT) END`;
}

const DAY_NS = '86400000000000';
const HAS_YEAR = /%[YyG]/;

/** A text of one of some strptime forms; forms are alike in naming a zone or not. */
function formatted(text: string, formats: readonly string[], zone: string): string {
  const parsed = `try_strptime(${text}, [${formats.map(sqlText).join(', ')}])`;
  return formats.some((format) => /%z|%Z/.test(format)) ? `epoch_ns(${parsed})` : inZone(parsed, zone);
}

/** A time without a year is the latest that lies at most a day after `latest`. */
function ofLatestYear(text: string, formats: readonly string[], zone: string, latest: string): string {
  const year = `year(make_timestamp_ns((${latest})::BIGINT))`;
  const dated = formats.map((format) => `%Y ${format}`);
  const inYear = (back: number): string =>
    formatted(`concat(${year} - ${back}, ' ', regexp_replace(${text}, '\\s+', ' ', 'g'))`, dated, zone);
  const inNext = `TRY(${inYear(-1)})`;
  const inThis = `TRY(${inYear(0)})`;
  const isPast = (time: string): string => `${time} <= (${latest}) + ${DAY_NS}`;
  return `CASE WHEN ${isPast(inNext)} THEN ${inNext} WHEN ${isPast(inThis)} THEN ${inThis} ELSE TRY(${inYear(1)}) END`;
}

/** Where forms of times come from beside a mapping. */
export interface TimeForms {
  /** strptime forms that the kind of line implies. */
  readonly formats?: readonly string[];
  /** SQL for the latest instant that a time without a year may mean, in nanoseconds. */
  readonly latest?: string;
}

/**
 * SQL for the nanoseconds since 1970 (UTC) that a text column says, NULL when it says none. Without a format: ISO 8601 with
 * `-` or `/` in the date and at least minutes, with or without a zone, and epochs whose unit follows from their digits.
 * A form without a year means the latest year in which the time is not more than a day after the file's last change, or `not_after`.
 * In an IANA zone a local time that occurs twice means the later instant and one that never occurs is moved on by the gap.
 */
export function epochNanoseconds(column: string, rule: TimeRule, forms: TimeForms = {}): string {
  const text = `trim(${column})`;
  const digits = EPOCH_DIGITS[rule.format ?? ''];
  if (digits !== undefined) return `(${scaled(text, digits)})`;
  const formats = rule.format === undefined ? forms.formats : [rule.format];
  if (formats !== undefined) {
    if (formats.every((format) => HAS_YEAR.test(format))) return `TRY(${formatted(text, formats, rule.zone)})`;
    const latest =
      rule.not_after === undefined ? (forms.latest ?? 'epoch_ns(now()::TIMESTAMP)') : String(nanosecondsOf(rule.not_after));
    return ofLatestYear(text, formats, rule.zone, latest);
  }
  const dashed = `regexp_replace(${text}, '^(\\d{4})/(\\d{2})/', '\\1-\\2-')`;
  const dotted = `replace(${dashed}, ',', '.')`;
  const utc = `regexp_replace(${dotted}, ' ?(?:UTC|GMT|z)$', 'Z')`;
  const iso = `regexp_replace(${utc}, ' ?([+-]\\d{2}):?(\\d{2})$', '\\1:\\2')`;
  // Nearly all times have one of these two forms; what has neither falls through.
  const plain = `CASE WHEN suffix(${column}, 'Z') AND length(${column}) >= ${PLAIN_UTC_LENGTH} THEN epoch_ns(try_cast(${column} AS TIMESTAMP_NS))
    WHEN regexp_full_match(${column}, '\\d{9,19}') THEN try_cast(${column} AS BIGINT) * CASE
      WHEN length(${column}) < 12 THEN 1000000000 WHEN length(${column}) < 15 THEN 1000000 WHEN length(${column}) < 18 THEN 1000 ELSE 1 END END`;
  return `TRY(coalesce(${plain}, CASE
    WHEN regexp_full_match(${text}, '\\d{9,11}(\\.\\d+)?') THEN ${scaled(text, 9)}
    WHEN regexp_full_match(${text}, '\\d{12,14}(\\.\\d+)?') THEN ${scaled(text, 6)}
    WHEN regexp_full_match(${text}, '\\d{15,17}') THEN ${scaled(text, 3)}
    WHEN regexp_full_match(${text}, '\\d{18,19}') THEN try_cast(${text} AS BIGINT)
    WHEN NOT regexp_matches(${text}, '^\\d{4}[-/]\\d{2}[-/]\\d{2}[T ]\\d{2}:\\d{2}') THEN NULL
    WHEN regexp_matches(${iso}, '(Z|[+-]\\d{2}(:\\d{2})?)$') THEN epoch_ns(try_cast(${iso} AS TIMESTAMP_NS))
    ELSE ${inZone(iso, rule.zone)} END))`;
}

const FRACTION = /\.(\d+)/;

/** Nanoseconds since 1970 of an RFC 3339 instant. */
export function nanosecondsOf(instant: string): bigint {
  const digits = (FRACTION.exec(instant)?.[1] ?? '').padEnd(9, '0').slice(0, 9);
  const seconds = Date.parse(instant.replace(FRACTION, '')) / 1000;
  return BigInt(seconds) * 1_000_000_000n + BigInt(digits);
}

/** RFC 3339 in UTC of nanoseconds, cut to milliseconds. */
export function instantOf(nanoseconds: bigint): string {
  const rest = ((nanoseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  return new Date(Number((nanoseconds - rest) / 1_000_000n)).toISOString();
}
