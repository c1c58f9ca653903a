import type { Binding, Claim } from '../../protocol/executor-evidence';
import { Decimal } from '../../protocol/claim-fidelity/quantities';
import { isTokenEdge } from '../../protocol/claim-fidelity/tokens';
import type { Unit } from '../../vocabulary/evidence-terms';
import type { ClaimRole } from './claim-roles';
import type { Answer } from './telemetry-look';
import type { Thresholds } from './thresholds';

const QUOTE_LENGTH = 200;
const SHORTEST_QUOTE = 8;
const SHOWN_DIGITS = 3;

/** Two fields of one row that say the same of the baseline and of the incident window. */
interface MovedField<Row> {
  readonly baseline: keyof Row & string;
  readonly incident: keyof Row & string;
  readonly unit: Unit;
}

/**
 * Writes typed, bound claims from rows: every number stays where it was recorded and is only pointed at. It refuses to write
 * a claim about a value that is not there.
 */
export class EvidenceWriter {
  readonly claims: Claim[] = [];
  private readonly counts = new Map<ClaimRole, number>();

  constructor(readonly thresholds: Thresholds) {}

  /** That a field rose, fell, appeared or stayed equal, whichever is true; its claim id, or null without both values. */
  moved<Row extends { readonly service: string; readonly sample?: string }>(
    role: ClaimRole,
    answer: Answer<Row>,
    index: number,
    field: MovedField<Row>,
    alsoFields: readonly (keyof Row & string)[] = [],
    ofSummary: readonly string[] = [],
  ): string | null {
    const row = answer.rows[index];
    const before = row?.[field.baseline];
    const after = row?.[field.incident];
    if (row === undefined || typeof before !== 'number' || typeof after !== 'number') return null;
    const risen = before === 0 && field.unit === 'count' ? 'appeared' : 'rose';
    const op = after === before ? 'equals' : after < before ? 'fell' : risen;
    return this.add(role, {
      kind: 'fact',
      subject: row.service,
      assertion: { op, left: 0, right: 1, unit: field.unit },
      bindings: [
        bindingAt(answer, index, field.baseline),
        bindingAt(answer, index, field.incident),
        bindingAt(answer, index, 'service'),
        ...alsoFields.map((name) => bindingAt(answer, index, name)),
        ...ofSummary.map((name) => summaryBinding(answer, name)),
        ...sampleOf(answer, index, row.sample),
      ],
    });
  }

  /**
   * That a field stays within what is normal, in a form that states no departure: equal, less, a change of at most a factor
   * of two, or, where the baseline has none at all, the plain count if there is one to give. Null without both values.
   */
  withinNormal<Row extends { readonly service: string; readonly sample?: string }>(
    role: ClaimRole,
    answer: Answer<Row>,
    index: number,
    field: MovedField<Row> & { readonly count?: keyof Row & string },
    alsoFields: readonly (keyof Row & string)[] = [],
    ofSummary: readonly string[] = [],
  ): string | null {
    const row = answer.rows[index];
    const before = row?.[field.baseline];
    const after = row?.[field.incident];
    if (row === undefined || typeof before !== 'number' || typeof after !== 'number') return null;
    const [old, now] = [bindingAt(answer, index, field.baseline), bindingAt(answer, index, field.incident)];
    const context = [
      bindingAt(answer, index, 'service'),
      ...alsoFields.map((name) => bindingAt(answer, index, name)),
      ...ofSummary.map((name) => summaryBinding(answer, name)),
      ...sampleOf(answer, index, row.sample),
    ];
    const fact = { kind: 'fact' as const, subject: row.service };
    if (after === before) {
      return this.add(role, {
        ...fact,
        assertion: { op: 'equals', left: 0, right: 1, unit: field.unit },
        bindings: [old, now, ...context],
      });
    }
    if (after < before) {
      return this.add(role, {
        ...fact,
        assertion: { op: 'less', left: 0, right: 1, unit: field.unit },
        bindings: [now, old, ...context],
      });
    }
    const most = (this.thresholds.claims.normalFactor - 1) * 100;
    // The gate rounds the exact quotient, so a floating one would miss it where it ends in a half.
    const percent = before > 0 ? new Decimal(after).minus(before).div(before).times(100) : null;
    if (percent === null || percent.gt(most))
      return field.count === undefined ? null : this.counted(role, answer, index, field.count);
    const value = percent.prec(SHOWN_DIGITS).toNumber();
    return this.add(role, {
      ...fact,
      assertion: { op: 'percent_change', left: 0, right: 1, value, unit: 'percent' },
      bindings: [old, now, ...context],
    });
  }

  /** That a field of the incident window has its value: a plain count. Null where rows were left out of the answer. */
  counted<Row extends { readonly service: string; readonly sample?: string }>(
    role: ClaimRole,
    answer: Answer<Row>,
    index: number,
    field: keyof Row & string,
    alsoFields: readonly (keyof Row & string)[] = [],
  ): string | null {
    const row = answer.rows[index];
    const value = row?.[field];
    if (row === undefined || typeof value !== 'number' || !answer.complete) return null;
    return this.add(role, {
      kind: 'fact',
      subject: row.service,
      assertion: { op: 'count', left: 0, value, unit: 'count' },
      bindings: [
        bindingAt(answer, index, field),
        bindingAt(answer, index, 'service'),
        ...alsoFields.map((name) => bindingAt(answer, index, name)),
        ...sampleOf(answer, index, row.sample),
      ],
    });
  }

  /** That a kind of line takes a share of its service's lines at all: also where rows were left out, so that a count is none. */
  present<Row extends { readonly service: string; readonly share: number; readonly sample: string }>(
    role: ClaimRole,
    answer: Answer<Row>,
    index: number,
  ): string | null {
    const row = answer.rows[index];
    if (row === undefined || row.share <= 0) return null;
    return this.add(role, {
      kind: 'fact',
      subject: row.service,
      assertion: { op: 'greater', left: 0, value: 0, unit: 'ratio' },
      bindings: [bindingAt(answer, index, 'share'), bindingAt(answer, index, 'service'), ...sampleOf(answer, index, row.sample)],
    });
  }

  /** Takes over a claim of an earlier round as it was, under its own id. */
  keep(claim: Claim): void {
    this.claims.push(claim);
  }

  add(role: ClaimRole, claim: Omit<Claim, 'claim_id'>): string {
    let number = (this.counts.get(role) ?? 0) + 1;
    while (this.claims.some(({ claim_id }) => claim_id === `${role}-${number}`)) number += 1;
    this.counts.set(role, number);
    const claim_id = `${role}-${number}`;
    this.claims.push({ claim_id, ...claim });
    return claim_id;
  }
}

/** A binding to a field of a row of an answer. */
export function bindingAt(answer: Answer<unknown>, index: number, field: string): Binding {
  return {
    source_invocation_id: answer.invocation_id,
    tool_name: answer.tool_name,
    raw_path: `/${answer.rowsAt}/${index}/${field}`,
  };
}

/** A binding to a member of an answer's summary. */
export function summaryBinding(answer: Answer<unknown>, name: string): Binding {
  return { source_invocation_id: answer.invocation_id, tool_name: answer.tool_name, raw_path: `/summary/${name}` };
}

function sampleOf(answer: Answer<unknown>, index: number, sample: string | undefined): Binding[] {
  const quote = quoteOf(sample ?? '');
  return quote === null ? [] : [{ ...bindingAt(answer, index, 'sample'), quote }];
}

/** What names the failure itself: the last cause of a trace, the line that a traceback ends in, an exception with its words. */
const LAST_CAUSE = /^\s*Caused by: \S/;
const TRACEBACK = /^\s*Traceback \(most recent call last\)/;
const EXCEPTION = /(?:^|[\s"'(\[:])((?:[\w$]+[.:\\]{1,2})*[\w$]*(?:Exception|Error|Fault)\b: \S|panic: \S)/;

/** The line of a sample that tells most: what names the failure, else the first one that is not empty. */
function tellingLine(sample: string): string {
  const lines = sample.split(/\r?\n/).filter((part) => part.trim() !== '');
  const cause = lines.filter((line) => LAST_CAUSE.test(line)).at(-1);
  const traceback = lines.reduce((last, line, index) => (TRACEBACK.test(line) ? index : last), -1);
  const end = traceback < 0 ? undefined : lines.slice(traceback + 1).find((line) => /^\S/.test(line));
  return (cause ?? end ?? lines.find((line) => EXCEPTION.test(line)) ?? lines[0] ?? '').trim();
}

/** Where a quotation of a line begins: at its start, or, where that would cut off the exception, with the exception. */
function quoteStart(line: string): number {
  const match = EXCEPTION.exec(line);
  const at = match === null ? -1 : match.index + match[0].length - (match[1] ?? '').length;
  return at > QUOTE_LENGTH / 2 && line.length > QUOTE_LENGTH && isTokenEdge(line, at) ? at : 0;
}

/**
 * The words of a sample that tell most, on one line, cut between words or else at a token edge, as a quotation; null when too
 * little is left.
 */
export function quoteOf(sample: string): string | null {
  const whole = tellingLine(sample);
  const line = whole.slice(quoteStart(whole));
  const words = line.length <= QUOTE_LENGTH ? line : line.slice(0, QUOTE_LENGTH + 1).replace(/\s+\S*$/, '');
  let end = Math.min(words.length, QUOTE_LENGTH);
  while (end >= SHORTEST_QUOTE && (!isTokenEdge(line, end) || /[\uDC00-\uDFFF]/.test(line[end] ?? ''))) end -= 1;
  return end >= SHORTEST_QUOTE ? line.slice(0, end) : null;
}
