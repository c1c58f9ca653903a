import { FAULT_KINDS } from '../../examples/incident/faults';
import { generateIncident, questionOf } from '../../examples/incident/incident-generator';
import { CredentialRedactor } from '../../src/tools/credential-redactor.service';
import { medianOf, type Span, type Telemetry, telemetryOf, within } from './generated-telemetry';

const EVERY = FAULT_KINDS.map((kind, index) => [kind, 3 + index] as const);
const MINUTE = 60_000;

function later(instant: string): string {
  return new Date(Date.parse(instant) + 1).toISOString();
}

function metricOf(
  { samples, truth }: Telemetry,
  metric: string,
  stretch: 'window' | 'baseline',
  service = truth.cause,
): number[] {
  const own = samples.filter((sample) => sample.service === service && sample.metric === metric);
  return within(own, truth[stretch]).map(({ value }) => value);
}

function linesOfCause({ lines, truth }: Telemetry, level: string, stretch: 'window' | 'baseline'): string[] {
  const own = lines.filter((line) => line.service === truth.cause && line.level === level);
  return within(own, truth[stretch]).map(({ text }) => text);
}

function millis(spans: readonly Span[]): number {
  return medianOf(spans.map(({ ms }) => ms));
}

describe('the incident generator', () => {
  it('gives equal bytes for an equal seed, other names for another one', () => {
    expect(generateIncident(5, 'error_burst')).toEqual(generateIncident(5, 'error_burst'));
    expect(generateIncident(5, 'error_burst').truth.cause).not.toBe(generateIncident(6, 'error_burst').truth.cause);
  });

  it.each(EVERY)(
    'makes %s of seed %d with an innocent deploy, noise that was there before, and no word of the truth',
    (kind, seed) => {
      const telemetry = telemetryOf(seed, kind);
      const { truth, changes, lines, files } = telemetry;
      const onset = Date.parse(truth.window.from);
      const deploys = changes.filter((change) => change.kind === 'deploy');
      const innocent = deploys.find(({ service }) => service === truth.innocent_deploy);
      expect(truth.innocent_deploy).not.toBe(truth.cause);
      expect(Math.abs(Date.parse(innocent?.time ?? '') - onset)).toBeLessThan(9 * MINUTE);
      expect(deploys).toHaveLength(kind === 'bad_deploy' ? 2 : 1);
      const noise = lines.filter((line) => line.service === truth.noisy_service && line.level === 'warn');
      expect(within(noise, truth.baseline).length).toBeGreaterThan(200);
      const content = [...files].map(([name, text]) => name + text).join('\n');
      expect([kind, truth.variant, 'innocent', 'planted'].filter((word) => content.includes(word))).toEqual([]);
      expect(questionOf(truth)).not.toContain(truth.cause);
    },
  );

  it.each(EVERY)('lets logs, spans and metrics of %s of seed %d tell of the same requests', (kind, seed) => {
    const { truth, lines, samples, spans } = telemetryOf(seed, kind);
    const services = [...new Set(samples.map(({ service }) => service))];
    expect(services.length).toBeGreaterThanOrEqual(6);
    expect(services.length).toBeLessThanOrEqual(14);
    // A value counts the interval that ends with it.
    const intervals = { from: later(truth.baseline.from), to: later(truth.baseline.to) };
    const differences = services.map((service) => {
      const rates = samples.filter((sample) => sample.service === service && sample.metric === 'request_rate');
      const counted = within(rates, intervals).reduce((sum, { value }) => sum + value * 15, 0);
      const own = lines.filter((line) => line.service === service && /accepted|incoming request|Handling /.test(line.text));
      return Math.abs(counted - within(own, truth.baseline).length);
    });
    expect(Math.max(...differences)).toBeLessThan(5);
    const byId = new Map(spans.map((span) => [span.span, span]));
    const nested = spans.flatMap((span) => {
      const parent = byId.get(span.parent);
      return parent === undefined ? [] : [{ span, parent }];
    });
    expect(nested.length).toBeGreaterThan(truth.tracing === 'none' ? -1 : 1_000);
    expect(nested.filter(({ span, parent }) => span.trace !== parent.trace || span.at < parent.at)).toEqual([]);
    // A span that outlives its parent is a call that the caller gave up.
    const given = nested.filter(({ span, parent }) => span.at + span.ms > parent.at + parent.ms + 2);
    expect(given.filter(({ parent }) => !parent.failed)).toEqual([]);
  });

  it('lets services of one shop write in more than one format, in the order of time', () => {
    const { files } = telemetryOf(4, 'slow_dependency');
    const names = [...files.keys()].filter((name) => name.startsWith('logs/'));
    expect(new Set(names.map((name) => name.split('.').at(-1)))).toEqual(new Set(['jsonl', 'log']));
    for (const name of names) {
      const times = (files.get(name) ?? '').split('\n').flatMap((row) => /^\d{4}-\S+ ?[\d:,.]*|"time":\d+/.exec(row)?.[0] ?? []);
      expect(times).toEqual([...times].sort());
    }
  });

  it('writes nothing that looks like a credential', () => {
    const redactor = new CredentialRedactor();
    for (const [kind, seed] of EVERY) {
      for (const [name, content] of telemetryOf(seed, kind).files) {
        const some = content.slice(0, 2_000) + content.slice(-2_000);
        expect([name, redactor.redact(some) === some]).toEqual([name, true]);
      }
    }
  });

  it('shows a database lock as time of statements that write, and in lines about waiting', () => {
    const telemetry = telemetryOf(3, 'database_lock');
    const { truth, spans } = telemetry;
    const writes = spans.filter((span) => span.service === truth.cause && span.operation.startsWith('UPDATE'));
    expect(millis(within(writes, truth.window))).toBeGreaterThan(10 * millis(within(writes, truth.baseline)));
    const waiting = [...linesOfCause(telemetry, 'warn', 'window'), ...linesOfCause(telemetry, 'error', 'window')];
    expect(waiting.filter((text) => /row lock|Lock wait/.test(text)).length).toBeGreaterThan(10);
    expect(linesOfCause(telemetry, 'warn', 'baseline').filter((text) => text.includes('row lock'))).toEqual([]);
  });

  it('shows an exhausted pool in its metric and in lines, and at no other service', () => {
    const telemetry = telemetryOf(4, 'pool_exhaustion');
    const { truth, samples } = telemetry;
    const full = Math.max(...metricOf(telemetry, 'pool_in_use', 'window'));
    expect(full).toBeGreaterThanOrEqual(6);
    expect(medianOf(metricOf(telemetry, 'pool_in_use', 'baseline'))).toBeLessThan(3);
    expect(
      linesOfCause(telemetry, 'error', 'window').filter((text) => text.startsWith('no connection free')).length,
    ).toBeGreaterThan(20);
    const others = new Set(samples.map(({ service }) => service).filter((service) => service !== truth.cause));
    for (const service of others)
      expect(medianOf([0, 0, ...metricOf(telemetry, 'pool_in_use', 'window', service)])).toBeLessThan(4);
  });

  it('shows busy processors in metrics, where the guilty service writes no span, and in no line of it', () => {
    const telemetry = telemetryOf(209, 'cpu_saturation');
    const { truth, spans } = telemetry;
    expect(truth).toMatchObject({ variant: 'runaway', tracing: 'without_cause' });
    expect(medianOf(metricOf(telemetry, 'cpu_usage', 'window'))).toBeGreaterThan(0.8);
    expect(medianOf(metricOf(telemetry, 'cpu_usage', 'baseline'))).toBeLessThan(0.5);
    expect(spans.length).toBeGreaterThan(1_000);
    expect(spans.filter(({ service }) => service === truth.cause)).toEqual([]);
    expect(linesOfCause(telemetry, 'error', 'window')).toEqual([]);
  });

  it('shows a late network between caller and callee alone: the guilty service answers as fast as ever', () => {
    const telemetry = telemetryOf(6, 'slow_dependency');
    const { truth, spans } = telemetry;
    const byId = new Map(spans.map((span) => [span.span, span]));
    const calls = spans.flatMap((span) => {
      const parent = byId.get(span.parent);
      return span.service === truth.cause && span.kind === 'server' && parent?.kind === 'client'
        ? [{ ...span, ms: parent.ms - span.ms }]
        : [];
    });
    expect(millis(within(calls, truth.baseline))).toBeLessThan(10);
    expect(millis(within(calls, truth.window))).toBeGreaterThan(150);
    const own = spans.filter((span) => span.service === truth.cause && span.kind === 'internal');
    expect(millis(within(own, truth.window))).toBeLessThan(1.5 * millis(within(own, truth.baseline)));
    expect(linesOfCause(telemetry, 'error', 'window').length).toBeLessThan(5);
  });

  it('shows a crashing service by what its callers say and by holes in its metrics, not by its own word', () => {
    const telemetry = telemetryOf(4, 'error_burst');
    const { truth, lines } = telemetry;
    expect(truth.variant).toBe('crash_loop');
    const refused = lines.filter(
      ({ service, text }) => service !== truth.cause && text.includes(truth.cause) && /refused/i.test(text),
    );
    expect(within(refused, truth.window).length).toBeGreaterThan(20);
    expect(within(refused, truth.baseline)).toEqual([]);
    expect(
      linesOfCause(telemetry, 'error', 'window').filter((text) => !/failed|errored|Completed|call to|upstream|POST/.test(text)),
    ).toEqual([]);
    const perMinute = (stretch: 'window' | 'baseline'): number => {
      const { from, to } = truth[stretch];
      return metricOf(telemetry, 'cpu_usage', stretch).length / ((Date.parse(to) - Date.parse(from)) / MINUTE);
    };
    expect(perMinute('window')).toBeLessThan(0.8 * perMinute('baseline'));
  });

  it.each([
    ['failing_version', 8],
    ['slow_version', 4],
  ])('lets a bad deploy come just before its %s does harm', (variant, seed) => {
    const telemetry = telemetryOf(seed, 'bad_deploy');
    const { truth, changes } = telemetry;
    expect(truth.variant).toBe(variant);
    expect(truth.trigger?.service).toBe(truth.cause);
    expect(changes.filter(({ service, kind }) => service === truth.cause && kind === 'deploy')).toEqual([
      { time: truth.trigger?.at, service: truth.cause, kind: 'deploy', text: truth.trigger?.text },
    ]);
    expect(Math.abs(Date.parse(truth.trigger?.at ?? '') - Date.parse(truth.window.from))).toBeLessThan(MINUTE);
    const metric = variant === 'slow_version' ? 'latency_p95' : 'error_ratio';
    const [before, after] = [medianOf(metricOf(telemetry, metric, 'baseline')), medianOf(metricOf(telemetry, metric, 'window'))];
    expect(after).toBeGreaterThan(variant === 'slow_version' ? 1.5 * before : 0.15);
  });

  it('keeps spans for as long as it is told, and everything else as it was', () => {
    const all = generateIncident(4, 'slow_dependency');
    const short = generateIncident(4, 'slow_dependency', { spansKeptMinutes: 20 });
    const first = (files: ReadonlyMap<string, string>): number =>
      Math.min(
        ...(files.get('spans.csv') ?? '')
          .split('\n')
          .slice(1, -1)
          .map((row) => Date.parse(row.split(',')[6] ?? '')),
      );
    expect(Date.parse(all.truth.window.to) - first(short.files)).toBeLessThanOrEqual(20 * MINUTE);
    expect(first(all.files)).toBeLessThan(first(short.files) - 20 * MINUTE);
    for (const [name, content] of short.files)
      expect([name, content === all.files.get(name)]).toEqual([name, name !== 'spans.csv']);
  });
});
