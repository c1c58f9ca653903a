import { EvidenceWriter } from '../../src/agents/analyst/evidence-writer';
import type { Seen } from '../../src/agents/analyst/seen';
import { tellFollowUp } from '../../src/agents/analyst/follow-up-claims';
import { type Answer, TelemetryLook } from '../../src/agents/analyst/telemetry-look';
import { THRESHOLDS } from '../../src/agents/analyst/thresholds';
import type { QueryFocus } from '../../src/protocol/diagnosis-query';
import type { Assessment, Claim } from '../../src/protocol/executor-evidence';
import { CONFIG, metricRow, queryOf, ScriptedToolRunner, shareRow } from './scripted-tools';

function answerOf<Row>(tool_name: string, rowsAt: string, rows: readonly Row[]): Answer<Row> {
  return {
    invocation_id: `t-${tool_name}`,
    tool_name,
    rowsAt,
    arguments: {},
    rows,
    matched_count: rows.length,
    records_scanned: 10,
    records_rejected: 0,
    by_trace: false,
    summary: {},
    coverage: null,
    complete: true,
  };
}

async function tell(focus: QueryFocus, part: Partial<Seen>, assessments: Assessment[] = []) {
  const seen = {
    ...{ sequences: null, shares: null, patterns: null, metrics: null, spans: null, edges: null, recorded: null, changes: [] },
    ...{ query: queryOf({ focus }), thresholds: THRESHOLDS, followUps: new Map() },
    ...part,
  };
  const look = new TelemetryLook(new ScriptedToolRunner(() => undefined), CONFIG, THRESHOLDS);
  const writer = new EvidenceWriter(THRESHOLDS);
  const told = await tellFollowUp(seen, assessments, look, writer);
  return { told, claims: writer.claims, limitations: look.limitations() };
}

const idsOf = (claims: readonly Claim[]): string[] => claims.map(({ claim_id }) => claim_id);
const WHY_VAULT: QueryFocus = { ask: 'why_not', subject: 'vault' };

describe('tellFollowUp', () => {
  it('clears a service that every family shows normal', async () => {
    const shares = answerOf('error_share', 'services', [shareRow('vault', 4, 1000, 8, 2000)]);
    const { told, claims } = await tell(WHY_VAULT, { shares });
    expect(told).toEqual([{ rank: 1, subject: 'vault', role: 'ruled_out', claim_ids: ['clear-1'] }]);
    expect(idsOf(claims)).toEqual(['clear-1']);
  });

  it('clears nobody whose errors rose, and says that they did', async () => {
    const shares = answerOf('error_share', 'services', [shareRow('vault', 300, 1000, 8, 2000)]);
    const { told, claims } = await tell(WHY_VAULT, { shares });
    expect(told).toEqual([]);
    expect(claims).toMatchObject([{ claim_id: 'asked-1', subject: 'vault', assertion: { op: 'rose' } }]);
  });

  it('clears nobody by its lines whose metrics depart', async () => {
    const shares = answerOf('error_share', 'services', [shareRow('vault', 4, 1000, 8, 2000)]);
    const metrics = answerOf('metric_anomalies', 'metrics', [metricRow({ service: 'vault' })]);
    const { told, claims } = await tell(WHY_VAULT, { shares, metrics });
    expect(told).toEqual([]);
    expect(idsOf(claims)).toEqual(['asked-1']);
    expect(claims[0]?.bindings[0]?.tool_name).toBe('metric_anomalies');
  });

  it('clears nobody who cannot be compared', async () => {
    const shares = answerOf('error_share', 'services', [
      { ...shareRow('vault', 4), baseline_lines: null, baseline_error_lines: null, baseline_error_share: null },
    ]);
    const { told, claims } = await tell(WHY_VAULT, { shares });
    expect(told).toEqual([]);
    expect(claims).toMatchObject([{ claim_id: 'asked-1', assertion: { op: 'count', value: 4 } }]);
  });

  it('leaves to its assessment whoever has one', async () => {
    const shares = answerOf('error_share', 'services', [shareRow('vault', 300, 1000, 8, 2000)]);
    const cause: Assessment = { rank: 1, subject: 'vault', role: 'cause', claim_ids: ['harm-1'] };
    expect(await tell(WHY_VAULT, { shares }, [cause])).toMatchObject({ told: [cause], claims: [] });
  });

  it('says of a name that nothing has that it cannot be told from', async () => {
    const shares = answerOf('error_share', 'services', [shareRow('cart')]);
    const { told, limitations } = await tell(WHY_VAULT, { shares });
    expect(told).toEqual([]);
    expect(limitations).toContain('SUBJECT_UNKNOWN');
  });

  it('adds nothing where nothing was asked for', async () => {
    const seen = { query: queryOf() } as Seen;
    const writer = new EvidenceWriter(THRESHOLDS);
    const look = new TelemetryLook(new ScriptedToolRunner(() => undefined), CONFIG, THRESHOLDS);
    expect(await tellFollowUp(seen, [], look, writer)).toEqual([]);
    expect(writer.claims).toEqual([]);
  });
});
