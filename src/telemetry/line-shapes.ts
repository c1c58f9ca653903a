/** Named groups that a text pattern may have. */
export const LINE_FIELDS = ['time', 'level', 'service', 'message', 'trace', 'span'] as const;
export type LineField = (typeof LINE_FIELDS)[number];

/** Line shapes that need no pattern of one's own. */
export const LINE_SHAPE_NAMES = ['iso', 'slash_date', 'logfmt'] as const;
export type LineShapeName = (typeof LINE_SHAPE_NAMES)[number];

/** One field of a line: an RE2 pattern and the index of the group that holds it, or all that follows the pattern. */
export interface FieldPattern {
  readonly pattern: string;
  readonly group: number | 'rest';
}

/** How a line of plain text is read: what tells a record's first line, and where its fields stand. */
export interface LineShape {
  readonly head: string;
  readonly fields: Partial<Record<LineField, FieldPattern>> & { readonly time: FieldPattern };
}

const CLOCK = '\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?(?: ?(?:Z|UTC|[+-]\\d{2}:?\\d{2}))?';
const ISO = `^\\s?[\\[(]?(\\d{4}-\\d{2}-\\d{2}[T ]${CLOCK})[\\])]?[\\s|:-]*`;
const SLASH = `^\\s?[\\[(]?(\\d{4}/\\d{2}/\\d{2} ${CLOCK})[\\])]?[\\s|:-]*`;
const pair = (names: string): string => `(?:^|\\s)(?:${names})=(?:"((?:[^"\\\\]|\\\\.)*)"|(\\S+))`;
const either = (names: string): FieldPattern => ({ pattern: `(?:^|\\s)(?:${names})="?([^"\\s]+)`, group: 1 });

const SHAPES: Record<LineShapeName, LineShape> = {
  iso: { head: ISO, fields: { time: { pattern: ISO, group: 1 }, message: { pattern: ISO, group: 'rest' } } },
  slash_date: { head: SLASH, fields: { time: { pattern: SLASH, group: 1 }, message: { pattern: SLASH, group: 'rest' } } },
  logfmt: {
    head: pair('time|ts|timestamp'),
    fields: {
      time: either('time|ts|timestamp'),
      level: either('level|lvl|severity'),
      service: either('service|svc|app|component'),
      trace: either('trace_id|traceID|trace'),
      span: either('span_id|spanID|span'),
    },
  },
};

/** Names of a pattern's capture groups with their index; the pattern itself is only checked when it is first used. */
export function namedGroups(pattern: string): Map<string, number> {
  const names = new Map<string, number>();
  let index = 0;
  let inClass = false;
  for (let at = 0; at < pattern.length; at += 1) {
    const char = pattern[at];
    if (char === '\\') at += 1;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') {
      const name = /^\(\?P?<([A-Za-z_]\w*)>/.exec(pattern.slice(at))?.[1];
      if (name !== undefined || pattern[at + 1] !== '?') index += 1;
      if (name !== undefined) names.set(name, index);
    }
  }
  return names;
}

/** The shape of a known name or of a pattern with named groups. */
export function lineShape(nameOrPattern: string): LineShape {
  const known = LINE_SHAPE_NAMES.find((name) => name === nameOrPattern);
  if (known !== undefined) return SHAPES[known];
  const pattern = nameOrPattern.replaceAll(/\(\?<(?=[A-Za-z_]\w*>)/g, '(?P<');
  const groups = namedGroups(nameOrPattern);
  const fieldOf = (field: LineField): FieldPattern | undefined => {
    const group = groups.get(field);
    return group === undefined ? undefined : { pattern, group };
  };
  return {
    head: pattern,
    fields: {
      time: { pattern, group: groups.get('time') ?? 0 },
      level: fieldOf('level'),
      service: fieldOf('service'),
      message: fieldOf('message'),
      trace: fieldOf('trace'),
      span: fieldOf('span'),
    },
  };
}

/** Pattern of lines that go on with the record before them: indented lines and the usual parts of stack traces. */
export const CONTINUATION =
  '^(?:\\s|Caused by: |Traceback |\\.\\.\\. \\d+ more|[})\\]]|(?:[a-z_]\\w*\\.)*[A-Z]\\w*(?:Exception|Error)(?:: |$))';
