import { rankByMetrics, type Requested } from '../../src/agents/analyst/metric-ranking';
import { THRESHOLDS } from '../../src/agents/analyst/thresholds';
import { ServicePaths } from '../../src/agents/analyst/service-paths';
import { edgeRow, metricRow, WINDOW } from './scripted-tools';

const NOBODY = new ServicePaths([]);
const NONE: Requested = { traced: new Set(), serving: new Set() };

describe('rankByMetrics', () => {
  it('makes nothing of a series that does what its baseline does', () => {
    expect(rankByMetrics([metricRow({ service: 'kettle', score: 1.4 })], NOBODY, WINDOW, NONE, THRESHOLDS.metrics)).toEqual([]);
  });

  it('counts a series the more the more often its baseline was seen and the longer it departs', () => {
    const raw = (part: object): number =>
      rankByMetrics([metricRow({ service: 'kettle', ...part })], NOBODY, WINDOW, NONE, THRESHOLDS.metrics)[0]?.raw ?? 0;
    expect(raw({})).toBeGreaterThan(raw({ segment_rows: 1 }));
    expect(raw({})).toBeGreaterThan(raw({ baseline_rows: 10 }));
    expect(raw({})).toBeGreaterThan(raw({ coverage: 0.3 }));
    expect(raw({})).toBeGreaterThan(raw({ kind: 'traffic' }));
  });

  it('takes a caller whose latency its callee accounts for as explained by it, and not the other way round', () => {
    const rows = [metricRow({ service: 'tray', change: 2.2 }), metricRow({ service: 'kettle', change: 2.1 })];
    const [first, second] = rankByMetrics(rows, new ServicePaths([edgeRow('tray', 'kettle')]), WINDOW, NONE, THRESHOLDS.metrics);
    expect(first).toMatchObject({ service: 'kettle', explainedBy: null });
    expect(second).toMatchObject({ service: 'tray', explainedBy: 'kettle' });
    expect(second?.explained).toBeGreaterThan(0.9);
  });

  it('does not let a callee account for a processor that is busy', () => {
    const busy = { metric: 'cpu', statistic: null, kind: 'saturation' as const };
    const rows = [metricRow({ service: 'tray', ...busy }), metricRow({ service: 'kettle', ...busy })];
    const ranked = rankByMetrics(rows, new ServicePaths([edgeRow('tray', 'kettle')]), WINDOW, NONE, THRESHOLDS.metrics);
    expect(ranked.map(({ explainedBy }) => explainedBy)).toEqual([null, null]);
  });

  it('holds a departure that a departing entry cannot reach for less likely', () => {
    const rows = [metricRow({ service: 'tray' }), metricRow({ service: 'lid', statistic: 'p50' })];
    const ranked = rankByMetrics(rows, new ServicePaths([edgeRow('tray', 'kettle')]), WINDOW, NONE, THRESHOLDS.metrics);
    const [tray, lid] = ['tray', 'lid'].map((name) => ranked.find(({ service }) => service === name));
    expect(lid?.raw).toBeCloseTo(tray?.raw ?? 0);
    expect(lid?.score).toBeLessThan((tray?.score ?? 0) / 2);
  });

  it('leaves latencies to the spans where there are some', () => {
    expect(
      rankByMetrics(
        [metricRow({ service: 'kettle' })],
        NOBODY,
        WINDOW,
        { traced: new Set(['kettle']), serving: new Set() },
        THRESHOLDS.metrics,
      ),
    ).toEqual([]);
  });
});

describe('ServicePaths', () => {
  it('calls a service above another only when requests do not come back', () => {
    const paths = new ServicePaths([edgeRow('tray', 'kettle'), edgeRow('kettle', 'spoon'), edgeRow('spoon', 'kettle')]);
    expect(paths.isAbove('tray', 'spoon')).toBe(true);
    expect(paths.isAbove('spoon', 'tray')).toBe(false);
    expect(paths.isAbove('kettle', 'spoon')).toBe(false);
    expect(paths.entries()).toEqual(['tray']);
  });

  it('knows a call that a file states without a count, and no call that was counted as none', () => {
    const paths = new ServicePaths([
      { caller: 'tray', callee: 'kettle', count: null, baseline_count: null },
      { caller: 'tray', callee: 'lid', count: 0, baseline_count: 0 },
    ]);
    expect([...paths.calleesOf('tray')]).toEqual(['kettle']);
  });
});
