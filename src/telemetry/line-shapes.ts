import type { LevelScaleName } from './log-level';

/** Named groups that a text pattern may have. */
export const LINE_FIELDS = ['time', 'level', 'service', 'message', 'trace', 'span'] as const;
export type LineField = (typeof LINE_FIELDS)[number];

/** One field of a line: an RE2 pattern and the index of the group that holds it, or all that follows the pattern. */
export interface FieldPattern {
  readonly pattern: string;
  readonly group: number | 'rest';
}

/** How a line of plain text is read: what tells a record's first line, and where its fields stand. */
export interface LineShape {
  readonly head: string;
  readonly fields: Partial<Record<LineField, FieldPattern>> & { readonly time: FieldPattern };
  /** strptime forms of the time, when it is not ISO 8601 or an epoch. */
  readonly timeFormats?: readonly string[];
  readonly levelScale?: LevelScaleName;
  /** What enough lines must show as well for a file to be taken for this shape. */
  readonly sure?: string;
  /** Lines that go on with a record in this shape alone. */
  readonly goesOn?: string;
  /** What each line of a stack trace begins with as well; group 3 tells by `P` that the next line goes on with this one. */
  readonly wrapper?: string;
}

const ZONE = '(?: ?(?:Z|UTC|[+-]\\d{2}:?\\d{2}))?';
const CLOCK = `\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?${ZONE}`;
const ISO_TIME = `\\d{4}-\\d{2}-\\d{2}[T ]${CLOCK}`;
const ISO = `^\\s?[\\[(]?(${ISO_TIME})[\\])]?[\\s|:-]*`;
const SLASH = `^\\s?[\\[(]?(\\d{4}/\\d{2}/\\d{2} ${CLOCK})[\\])]?[\\s|:-]*`;
const LEVELS = 'TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|SEVERE|FATAL|CRITICAL';
const LEVEL_FIRST = `^\\s?\\[?(${LEVELS})\\]?[\\s|:-]+[\\[(]?(${ISO_TIME})[\\])]?[\\s|:-]*`;
const EPOCH = '^\\[?(\\d{10}(?:\\.\\d+)?|\\d{13})\\]?[\\s|:-]+';
const CRI = '^(\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?(?:Z|[+-]\\d{2}:\\d{2})) (stdout|stderr) ([FP])(?: |$)';
const PRIORITY = '^<(\\d{1,3})>';
const SYSLOG_BSD =
  '^(?:<\\d{1,3}>)?([A-Z][a-z]{2} [ \\d]\\d \\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?) (\\S+) ([^\\s:\\[\\]]+)(?:\\[[^\\]]*\\])?:? ';
const SYSLOG_IETF = '^<\\d{1,3}>1 (\\S+) \\S+ (?:-|(\\S+)) \\S+ \\S+ (?:-|(?:\\[(?:[^\\]\\\\"]|"(?:[^"\\\\]|\\\\.)*")*\\])+) ?';
const SYSLOG_ISO = `^(?:<\\d{1,3}>)?(\\d{4}-\\d{2}-\\d{2}T${CLOCK}) [\\w.-]+ ([\\w./@-]+)(?:\\[\\d+\\])?: `;
const ACCESS =
  '^\\S+ (?:\\S+ )?[^\\[\\]"]*\\[(\\d{2}/[A-Z][a-z]{2}/\\d{4}:\\d{2}:\\d{2}:\\d{2} [+-]\\d{4})\\] "(?:[^"\\\\]|\\\\.)*" \\d{3}\\b';
const REQUEST = '\\] ("(?:[^"\\\\]|\\\\.)*" (\\d{3}))\\b';
const PROXY = `^\\[(${ISO_TIME})\\] ("(?:[^"\\\\]|\\\\.)*" (\\d{1,3}))\\b`;
const RUBY = `^[DIWEFA], \\[(${ISO_TIME}) #\\d+\\] +(\\w+) -- [^:]*: `;
const NGINX_ERROR = `^(\\d{4}/\\d{2}/\\d{2} \\d{2}:\\d{2}:\\d{2}) \\[(\\w+)\\] \\d+#\\d+: (?:\\*\\d+ )?`;
const APACHE_ERROR =
  '^\\[([A-Z][a-z]{2} [A-Z][a-z]{2} [ \\d]?\\d \\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)? \\d{4})\\] \\[(?:[\\w-]*:)?(\\w+)\\] (?:\\[(?:pid|client) [^\\]]*\\] )*';
const DAY_MONTH = `^\\s?(?:\\d+:[A-Z] )?[\\[(]?(\\d{2}[-/ ][A-Z][a-z]{2}[-/ ]\\d{4}[ :]\\d{2}:\\d{2}:\\d{2}(?:\\.\\d+)?)(?: (?:UTC|GMT))?[\\])]?[\\s|:-]*`;
/** A time with an offset is none of these forms: reading it without would move it. */
const DAY_MONTH_HEAD = `${DAY_MONTH}(?:[^\\s|:+-]|$)`;
const JAVA_LOGGING = '^([A-Z][a-z]{2} \\d{1,2}, \\d{4},? \\d{1,2}:\\d{2}:\\d{2} [AP]M) ';
const KLOG = '^([IWEF])(\\d{4} \\d{2}:\\d{2}:\\d{2}\\.\\d+) +\\d+ [^\\]\\s]+\\] ';
const pair = (names: string): string => `(?:^|\\s)(?:${names})=(?:"((?:[^"\\\\]|\\\\.)*)"|(\\S+))`;
const either = (names: string): FieldPattern => ({ pattern: `(?:^|\\s)(?:${names})="?([^"\\s]+)`, group: 1 });
const at = (pattern: string, group: number | 'rest'): FieldPattern => ({ pattern, group });
const headed = (pattern: string, time = 1): LineShape['fields'] => ({ time: at(pattern, time), message: at(pattern, 'rest') });

/** In the order in which they are tried on a file: the narrower ones first. */
const SHAPES = {
  cri: { head: CRI, fields: headed(CRI), wrapper: CRI },
  syslog_rfc5424: {
    head: SYSLOG_IETF,
    fields: { ...headed(SYSLOG_IETF), service: at(SYSLOG_IETF, 2), level: at(PRIORITY, 1) },
    levelScale: 'syslog',
  },
  syslog_rfc3164: {
    head: SYSLOG_BSD,
    fields: { ...headed(SYSLOG_BSD), service: at(SYSLOG_BSD, 3), level: at(PRIORITY, 1) },
    levelScale: 'syslog',
    timeFormats: ['%b %d %H:%M:%S', '%b %d %H:%M:%S.%f'],
  },
  syslog_iso: {
    head: SYSLOG_ISO,
    sure: '^<\\d{1,3}>| [\\w./@-]+\\[\\d+\\]: ',
    fields: { ...headed(SYSLOG_ISO), service: at(SYSLOG_ISO, 2), level: at(PRIORITY, 1) },
    levelScale: 'syslog',
  },
  access: {
    head: ACCESS,
    fields: { time: at(ACCESS, 1), message: at(REQUEST, 1), level: at(REQUEST, 2) },
    levelScale: 'http_status',
    timeFormats: ['%d/%b/%Y:%H:%M:%S %z'],
  },
  proxy_access: {
    head: PROXY,
    fields: { time: at(PROXY, 1), message: at(PROXY, 2), level: at(PROXY, 3) },
    levelScale: 'http_status',
  },
  ruby: { head: RUBY, fields: { ...headed(RUBY), level: at(RUBY, 2) } },
  nginx_error: { head: NGINX_ERROR, fields: { ...headed(NGINX_ERROR), level: at(NGINX_ERROR, 2) } },
  apache_error: {
    head: APACHE_ERROR,
    fields: { ...headed(APACHE_ERROR), level: at(APACHE_ERROR, 2) },
    timeFormats: ['%a %b %d %H:%M:%S.%f %Y', '%a %b %d %H:%M:%S %Y'],
  },
  day_month: {
    head: DAY_MONTH_HEAD,
    fields: headed(DAY_MONTH),
    timeFormats: ['-', '/', ' '].flatMap((sign) =>
      [' ', ':'].flatMap((gap) => ['', '.%f'].map((part) => `%d${sign}%b${sign}%Y${gap}%H:%M:%S${part}`)),
    ),
  },
  java_logging: {
    head: JAVA_LOGGING,
    fields: headed(JAVA_LOGGING),
    timeFormats: ['%b %d, %Y %I:%M:%S %p', '%b %d, %Y, %I:%M:%S %p'],
    goesOn: '^(?:SEVERE|WARNING|INFO|CONFIG|FINE|FINER|FINEST): ',
  },
  klog: { head: KLOG, fields: { ...headed(KLOG, 2), level: at(KLOG, 1) }, timeFormats: ['%m%d %H:%M:%S.%f'] },
  level_first: { head: LEVEL_FIRST, fields: { ...headed(LEVEL_FIRST, 2), level: at(LEVEL_FIRST, 1) } },
  iso: { head: ISO, fields: headed(ISO) },
  slash_date: { head: SLASH, fields: headed(SLASH) },
  epoch: { head: EPOCH, fields: headed(EPOCH) },
  logfmt: {
    head: pair('time|ts|timestamp'),
    fields: {
      time: at('(?:^|\\s)(?:time|ts|timestamp)="?([^"\\s]+(?: \\d{2}:[^"\\s]+)?)', 1),
      level: either('level|lvl|severity'),
      service: either('service|svc|app|component'),
      trace: either('trace_id|traceID|traceId|trace'),
      span: either('span_id|spanID|spanId|span'),
    },
  },
} as const satisfies Record<string, LineShape>;

/** Line shapes that need no pattern of one's own. */
export type LineShapeName = keyof typeof SHAPES;
export const LINE_SHAPE_NAMES = Object.keys(SHAPES) as readonly LineShapeName[];

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

/** A pattern as the engine writes named groups. */
export function enginePattern(pattern: string): string {
  return pattern.replaceAll(/\(\?<(?=[A-Za-z_]\w*>)/g, '(?P<');
}

/** The shape of a known name or of a pattern with named groups. */
export function lineShape(nameOrPattern: string): LineShape {
  const known = LINE_SHAPE_NAMES.find((name) => name === nameOrPattern);
  if (known !== undefined) return SHAPES[known];
  const pattern = enginePattern(nameOrPattern);
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
  '^(?:\\s|Caused by: |Suppressed: |Traceback |\\.\\.\\. \\d+ (?:more|common frames)|[})\\]]|goroutine \\d+ \\[|--- End of |#\\d+ (?:/|\\{main\\})' +
  '|During handling of the above exception|The above exception was the direct cause|(?:[a-z_]\\w*\\.)*[A-Z]\\w*(?:Exception|Error)(?:: |$))';
/** Pattern of a line that ends a stack trace when an indented line stands right before it: a class of exceptions, with or without a text. */
export const TRACE_END = '^(?:(?:[A-Za-z_]\\w*\\.)*[A-Z]\\w*(?:: |:?$)|(?:[a-z_]\\w*\\.)+[a-z]\\w*(?:: |$))';
