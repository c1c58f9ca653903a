/** Endings of files that can hold telemetry, each also with `.gz` and with a rotation's number or date behind it. */
export const TELEMETRY_ENDINGS = [
  '.csv',
  '.tsv',
  '.jsonl',
  '.ndjson',
  '.json',
  '.log',
  '.txt',
  '.out',
  '.err',
  '.parquet',
  '.export',
] as const;

/** Names that system services give their files, without an ending. */
const USUAL_NAMES =
  /^(?:syslog|messages|daemon|kern|auth|user|cron|maillog|mail|secure|dmesg|boot|debug|(?:[\w-]+[_-])?(?:access|error)[_-]?log|stdout|stderr|journal)$/i;
/** What a rotation puts behind a name: a number, a date, a date with a time. */
const ROTATION = /(?:\.\d{1,4}|[-_.]\d{4}-?\d{2}-?\d{2}(?:[-_T.]?\d+)?)$/;
const DOCUMENTATION = /^(?:readme|licen[cs]e|notice|changelog|contributing|authors|todo|makefile|dockerfile)(?:[._-]|$)/i;
/** `<pod>_<namespace>_<container>-<id>`, as the kubelet links containers' logs. */
const KUBERNETES_LOG = /^.+_[^_]+_(.+)-[0-9a-f]{64}$/;
/** A container's own log as Docker names it; its short id is the first twelve digits. */
const CONTAINER_ID = /^([0-9a-f]{12})[0-9a-f]{52}(?:-json)?$/;
/** Names that say what a file is, not whose. */
const GENERIC = /^(?:access|error|log|logs|output|out|err|stdout|stderr|current|console|metrics?|spans?|traces?|data|\d+)$/i;

function baseOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1).replace(/\.gz$/i, '');
}

function unrotated(base: string): string {
  return base.replace(ROTATION, '').replace(ROTATION, '');
}

/** The ending that tells how a file is read, in lower case, or null when its name says nothing. */
function endingOf(name: string): (typeof TELEMETRY_ENDINGS)[number] | null {
  const base = baseOf(name).toLowerCase();
  return TELEMETRY_ENDINGS.find((ending) => base.endsWith(ending) || unrotated(base).endsWith(ending)) ?? null;
}

/** Whether a name is one of an ending that is read. */
export function isNamed(name: string, ...endings: readonly (typeof TELEMETRY_ENDINGS)[number][]): boolean {
  const ending = endingOf(name);
  return ending !== null && endings.includes(ending);
}

/** Why a file is left out for its name alone, or null when it can hold telemetry. */
export function nameProblem(name: string): string | null {
  const base = baseOf(name);
  if (DOCUMENTATION.test(base)) return 'its name is one of documentation';
  if (endingOf(name) !== null || USUAL_NAMES.test(unrotated(base))) return null;
  return `its ending is none of ${TELEMETRY_ENDINGS.join(', ')}`;
}

/** Whether a name speaks of telemetry, were it of a form that is not read. A `.json` alone does not: settings are JSON too. */
export function isTelemetryLike(name: string): boolean {
  if (DOCUMENTATION.test(baseOf(name))) return false;
  return /\.(?:csv|tsv|jsonl|ndjson|log|txt|out|err|parquet)(?=\.|$)/i.test(name) || USUAL_NAMES.test(unrotated(baseOf(name)));
}

/**
 * The service that a file's name stands for: its last part without endings, dates and rotation numbers, the container of a
 * Kubernetes log, and the folder's name where the file's own says only what kind of file it is.
 */
export function serviceOfFileName(name: string): string {
  const base = baseOf(name);
  const plain = unrotated(base).replace(/(?:\.(?:csv|tsv|jsonl|ndjson|json|log|txt|out|err|parquet|export))+$/i, '');
  const stem = unrotated(plain).replace(/^(.+)[-_.](?:access|error)(?:[-_]log)?$/i, '$1') || base;
  const folder =
    name
      .slice(0, -1 - name.slice(name.lastIndexOf('/') + 1).length)
      .split('/')
      .at(-1) ?? '';
  const own = KUBERNETES_LOG.exec(stem)?.[1] ?? CONTAINER_ID.exec(stem)?.[1] ?? stem;
  if (!GENERIC.test(own.replace(/[-_]?log$/i, ''))) return own;
  return folder !== '' && !GENERIC.test(folder) ? folder : own;
}
