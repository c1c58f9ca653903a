import { sqlText } from './log-tables';
import type { TimeRule } from './telemetry-mapping';

/** Digits from a unit to nanoseconds. */
const EPOCH_DIGITS: Readonly<Record<string, number>> = { epoch_s: 9, epoch_ms: 6, epoch_us: 3, epoch_ns: 0 };

/** The usual form, which the engine reads as it is. */
const PLAIN_UTC = '\\d{4}-\\d{2}-\\d{2}[T ]\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,9})?Z';

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

/**
 * SQL for the nanoseconds since 1970 (UTC) that a text column says, NULL when it says none. Without a format: ISO 8601 with
 * `-` or `/` in the date and at least minutes, with or without a zone, and epochs whose unit follows from their digits.
 * In an IANA zone a local time that occurs twice means the later instant and one that never occurs is moved on by the gap.
 */
export function epochNanoseconds(column: string, rule: TimeRule): string {
  const text = `trim(${column})`;
  if (rule.format !== undefined) {
    const digits = EPOCH_DIGITS[rule.format];
    if (digits !== undefined) return `(${scaled(text, digits)})`;
    const parsed = `try_strptime(${text}, ${sqlText(rule.format)})`;
    return `TRY(${/%z|%Z/.test(rule.format) ? `epoch_ns(${parsed})` : inZone(parsed, rule.zone)})`;
  }
  const dashed = `regexp_replace(${text}, '^(\\d{4})/(\\d{2})/', '\\1-\\2-')`;
  const dotted = `replace(${dashed}, ',', '.')`;
  const utc = `regexp_replace(${dotted}, ' ?(?:UTC|GMT|z)$', 'Z')`;
  const iso = `regexp_replace(${utc}, ' ?([+-]\\d{2}):?(\\d{2})$', '\\1:\\2')`;
  return `TRY(CASE
    WHEN regexp_full_match(${text}, '${PLAIN_UTC}') THEN epoch_ns(try_cast(${text} AS TIMESTAMP_NS))
    WHEN regexp_full_match(${text}, '\\d{9,11}(\\.\\d+)?') THEN ${scaled(text, 9)}
    WHEN regexp_full_match(${text}, '\\d{12,14}(\\.\\d+)?') THEN ${scaled(text, 6)}
    WHEN regexp_full_match(${text}, '\\d{15,17}') THEN ${scaled(text, 3)}
    WHEN regexp_full_match(${text}, '\\d{18,19}') THEN try_cast(${text} AS BIGINT)
    WHEN NOT regexp_matches(${text}, '^\\d{4}[-/]\\d{2}[-/]\\d{2}[T ]\\d{2}:\\d{2}') THEN NULL
    WHEN regexp_matches(${iso}, '(Z|[+-]\\d{2}(:\\d{2})?)$') THEN epoch_ns(try_cast(${iso} AS TIMESTAMP_NS))
    ELSE ${inZone(iso, rule.zone)} END)`;
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
