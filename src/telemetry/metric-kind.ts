import type { MetricDirection, MetricKind } from '../ports/telemetry-source.port';

/** Words of a metric's name that tell its kind, the first that fits; "error count" is no traffic, so errors come first. */
const KIND_WORDS: readonly (readonly [MetricKind, RegExp])[] = [
  [
    'error',
    /^(?:err|errors?|fail\w*|faults?|exceptions?|[45]xx|timeouts?|restarts?|reject\w*|dropped|drops|oom|oomkill\w*|crash\w*)$/,
  ],
  ['availability', /^(?:avail\w*|success\w*|health\w*|up|ready)$/],
  ['latency', /^(?:latenc\w*|durations?|time|delay|lag|wait\w*|p\d\d\w*|rtt)$/],
  [
    'traffic',
    /^(?:req|reqs|requests?|counts?|workload|ops|throughput|traffic|bytes?|calls?|rps|qps|hits?|packets?|invocations?|syscalls?)$/,
  ],
  [
    'saturation',
    /^(?:cpu\w*|mem\w*|disk\w*|heap\w*|load|queued?|queues?|io|threads?|connections?|pool|utili[sz]ation|usage|fs)$/,
  ],
];

/** Trouble is a rise of errors, waiting and load, a fall of availability; more and less traffic can both be. */
const DIRECTIONS: Readonly<Record<MetricKind, MetricDirection>> = {
  error: 'rises',
  availability: 'falls',
  latency: 'rises',
  traffic: 'either',
  saturation: 'rises',
  other: 'either',
};

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '');
}

/** Characters of a name that are looked at. */
const MAX_NAME = 500;
/** A label whose value is a status of failed requests. */
const FAILED_STATUS = /[{,][^=,]*(?:code|status)[^=,]*=[45](?:\d\d|xx)\b/i;

/**
 * What a metric measures, by the words of its name (camel case, snake case, dotted) and a status among its labels; `other`
 * when nothing is known. A name that ends in `count` or `total` counts, whatever is counted: the count of durations is traffic.
 */
export function kindOfMetric(fullName: string): MetricKind {
  const name = fullName.slice(0, MAX_NAME);
  if (FAILED_STATUS.test(name)) return 'error';
  const words = wordsOf(name.replaceAll(/[\w.]+=(?:false|0|none)\b/gi, ''));
  const isCount = /^(?:counts?|total)$/.test(wordsOf(name.replace(/\{.*$/s, '')).at(-1) ?? '');
  const known = KIND_WORDS.find(
    ([kind, pattern]) => !(isCount && kind === 'latency') && words.some((word) => pattern.test(word)),
  )?.[0];
  return known ?? (isCount ? 'traffic' : 'other');
}

/** Which way a metric of a kind must go to be trouble. */
export function directionOfKind(kind: MetricKind): MetricDirection {
  return DIRECTIONS[kind];
}
