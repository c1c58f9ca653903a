import { kindOfMetric } from '../../src/telemetry/metric-kind';

describe('the kind of a metric by its name', () => {
  it.each([
    ['PodClientLatencyP90(s)', 'latency'],
    ['http_request_duration_seconds', 'latency'],
    ['http_request_duration_seconds_count', 'traffic'],
    ['http_requests_total{code=500}', 'error'],
    ['http_requests_total{code=200,le=500}', 'traffic'],
    ['requests{http.status_code=404}', 'error'],
    ['jobs_failed_total', 'error'],
    ['container_cpu_usage_seconds_total', 'saturation'],
    ['orders_total', 'traffic'],
    ['temperature', 'other'],
  ])('%s is %s', (name, kind) => {
    expect(kindOfMetric(name)).toBe(kind);
  });
});
