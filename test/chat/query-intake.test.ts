import type { ChatRequest } from '../../src/chat/chat-request';
import { buildQuery } from '../../src/chat/query-intake.service';
import { diagnosisQuerySchema, type DiagnosisQuery } from '../../src/protocol/diagnosis-query';

const COVERED = { from: Date.parse('2026-05-04T12:00:00Z'), to: Date.parse('2026-05-04T16:00:00Z') };

function build(request: Partial<ChatRequest>, covered: typeof COVERED | null = COVERED): DiagnosisQuery {
  const message = request.message ?? 'What is wrong?';
  return buildQuery({ request: { ...request, message }, question: message, now: new Date('2026-05-05T00:00:00Z') }, covered);
}

const window = (from: string, to: string): { from: string; to: string } => ({
  from: `2026-05-04T${from}Z`,
  to: `2026-05-04T${to}Z`,
});

describe('buildQuery', () => {
  it('takes the window of the request before the one that the question names', () => {
    const query = build({ message: 'since 15:00', window: window('14:00:00', '14:30:00') });
    expect(query.window).toEqual({ from: '2026-05-04T14:00:00.000Z', to: '2026-05-04T14:30:00.000Z', source: 'request' });
    expect(diagnosisQuerySchema.safeParse(query).success).toBe(true);
  });

  it('anchors the question on the end of the telemetry, not on the clock', () => {
    expect(build({ message: 'last 30 minutes' }).window).toEqual({
      from: '2026-05-04T15:30:00.000Z',
      to: '2026-05-04T16:00:00.000Z',
      source: 'question',
    });
  });

  it('without any hint looks at the last quarter and compares with the part before', () => {
    const query = build({});
    expect(query.window).toEqual({ from: '2026-05-04T15:00:00.000Z', to: '2026-05-04T16:00:00.000Z', source: 'telemetry' });
    expect(query.baseline).toEqual({ from: '2026-05-04T12:00:00.000Z', to: '2026-05-04T15:00:00.000Z', source: 'preceding' });
  });

  it('takes the window before as baseline as far as telemetry covers it, and none where it covers nothing', () => {
    expect(build({ window: window('14:00:00', '15:00:00') }).baseline).toEqual({
      from: '2026-05-04T13:00:00.000Z',
      to: '2026-05-04T14:00:00.000Z',
      source: 'preceding',
    });
    expect(build({ window: window('12:30:00', '13:30:00') }).baseline?.from).toBe('2026-05-04T12:00:00.000Z');
    expect(build({ window: window('12:00:00', '13:00:00') }).baseline).toBeNull();
    expect(build({ window: window('14:00:00', '15:00:00') }, null).baseline).toBeNull();
  });

  it('keeps the baseline of the request and refuses one that overlaps a window from the question', () => {
    const baseline = window('12:00:00', '12:10:00');
    expect(build({ message: 'since 15:00', baseline }).baseline?.source).toBe('request');
    expect(() => build({ message: 'since 12:05', baseline })).toThrow(/baseline: must not overlap the window/);
  });

  it('pins now, zone and locale', () => {
    expect(build({ timeZone: 'Europe/Berlin', locale: 'de' })).toMatchObject({
      now: '2026-05-05T00:00:00.000Z',
      time_zone: 'Europe/Berlin',
      locale: 'de',
    });
    expect(build({})).toMatchObject({ time_zone: 'UTC', locale: 'en' });
  });
});
