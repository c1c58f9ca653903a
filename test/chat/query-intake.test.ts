import type { ChatRequest } from '../../src/chat/chat-request';
import { buildQuery, type IntakeGround } from '../../src/chat/query-intake.service';
import { diagnosisQuerySchema, type DiagnosisQuery } from '../../src/protocol/diagnosis-query';

const COVERED = { from: Date.parse('2026-05-04T12:00:00Z'), to: Date.parse('2026-05-04T16:00:00Z') };
const ONSET = { from: Date.parse('2026-05-04T14:30:00Z'), to: Date.parse('2026-05-04T15:10:00Z') };

function build(
  request: Partial<ChatRequest>,
  ground: Partial<IntakeGround> = {},
  onset: typeof ONSET | null = null,
): Promise<DiagnosisQuery> {
  const message = request.message ?? 'What is wrong?';
  return buildQuery(
    { request: { ...request, message }, question: message, now: new Date('2026-05-05T00:00:00Z') },
    { covered: COVERED, earlier: null, services: ['stock', 'cart'], ...ground },
    async () => onset,
  );
}

const window = (from: string, to: string): { from: string; to: string } => ({
  from: `2026-05-04T${from}Z`,
  to: `2026-05-04T${to}Z`,
});
const sourced = (from: string, to: string, source: string): object => ({
  from: `2026-05-04T${from}:00.000Z`,
  to: `2026-05-04T${to}:00.000Z`,
  source,
});

describe('buildQuery', () => {
  it('takes the window of the request before the one that the question names', async () => {
    const query = await build({ message: 'since 15:00', window: window('14:00:00', '14:30:00') }, {}, ONSET);
    expect(query.window).toEqual(sourced('14:00', '14:30', 'request'));
    expect(diagnosisQuerySchema.safeParse(query).success).toBe(true);
  });

  it('anchors the question on the end of the telemetry, not on the clock', async () => {
    expect((await build({ message: 'last 30 minutes' }, {}, ONSET)).window).toEqual(sourced('15:30', '16:00', 'question'));
  });

  it('without any hint looks at the onset that the telemetry shows and compares with everything before', async () => {
    const query = await build({}, {}, ONSET);
    expect(query.window).toEqual(sourced('14:30', '15:10', 'onset'));
    expect(query.baseline).toEqual(sourced('12:00', '14:30', 'preceding'));
    expect(diagnosisQuerySchema.safeParse(query).success).toBe(true);
  });

  it('compares an onset with which the telemetry begins with everything after', async () => {
    const query = await build({}, {}, { from: COVERED.from, to: ONSET.to });
    expect(query.baseline).toEqual(sourced('15:10', '16:00', 'following'));
  });

  it('has no baseline for an onset that is all of the telemetry', async () => {
    expect((await build({}, {}, COVERED)).baseline).toBeNull();
  });

  it('where nothing departs looks at the last quarter and compares with the part before', async () => {
    const query = await build({});
    expect(query.window).toEqual(sourced('15:00', '16:00', 'telemetry'));
    expect(query.baseline).toEqual(sourced('12:00', '15:00', 'preceding'));
  });

  it('never asks for the onset when somebody named a window', async () => {
    const asked = jest.fn(async () => ONSET);
    const request = { message: 'since 15:00' };
    await buildQuery(
      { request, question: request.message, now: new Date() },
      { covered: COVERED, earlier: null, services: [] },
      asked,
    );
    expect(asked).not.toHaveBeenCalled();
  });

  it('takes the window before as baseline as far as telemetry covers it, and none where it covers nothing', async () => {
    expect((await build({ window: window('14:00:00', '15:00:00') })).baseline).toEqual(sourced('13:00', '14:00', 'preceding'));
    expect((await build({ window: window('12:30:00', '13:30:00') })).baseline?.from).toBe('2026-05-04T12:00:00.000Z');
    expect((await build({ window: window('12:00:00', '13:00:00') })).baseline).toBeNull();
    expect((await build({ window: window('14:00:00', '15:00:00') }, { covered: null })).baseline).toBeNull();
  });

  it('keeps the baseline of the request and refuses one that overlaps a window from the question', async () => {
    const baseline = window('12:00:00', '12:10:00');
    expect((await build({ message: 'since 15:00', baseline })).baseline?.source).toBe('request');
    await expect(build({ message: 'since 12:05', baseline })).rejects.toThrow(/baseline: must not overlap the window/);
  });

  it('pins now, zone and locale', async () => {
    expect(await build({ timeZone: 'Europe/Berlin', locale: 'de' })).toMatchObject({
      now: '2026-05-05T00:00:00.000Z',
      time_zone: 'Europe/Berlin',
      locale: 'de',
    });
    expect(await build({})).toMatchObject({ time_zone: 'UTC', locale: 'en' });
  });
});

describe('buildQuery with an alert', () => {
  const startsAt = '2026-05-04T15:00:00.123456789Z';

  it('looks from ten minutes before its start to the end of the telemetry, whatever times its words name', async () => {
    const query = await build({
      message: 'error rate above 5% in the last 5 minutes',
      alert: { startsAt, endsAt: '0001-01-01T00:00:00Z', labels: { alertname: 'HighErrorRate' } },
    });
    expect(query.window).toEqual({ from: '2026-05-04T14:50:00.123Z', to: '2026-05-04T16:00:00.000Z', source: 'alert' });
    expect(query.baseline).toMatchObject({ to: query.window.from, source: 'preceding' });
    expect(query.alert).toEqual({
      starts_at: '2026-05-04T15:00:00.123Z',
      ends_at: null,
      labels: { alertname: 'HighErrorRate' },
      annotations: {},
    });
    expect(diagnosisQuerySchema.safeParse(query).success).toBe(true);
  });

  it('ends with the alert, but not where that would be in the future or it still fires', async () => {
    const alert = { startsAt, endsAt: '2026-05-04T15:20:00Z' };
    expect((await build({ alert })).window.to).toBe('2026-05-04T15:20:00.000Z');
    expect((await build({ alert: { ...alert, status: 'firing' } })).window.to).toBe('2026-05-04T16:00:00.000Z');
    expect((await build({ alert: { startsAt, endsAt: '2026-05-06T00:00:00Z' } })).window.to).toBe('2026-05-04T16:00:00.000Z');
  });

  it('leaves half of what lies before it to compare with', async () => {
    const query = await build({ alert: { startsAt: '2026-05-04T12:08:00Z' } });
    expect(query.window.from).toBe('2026-05-04T12:04:00.000Z');
    expect(query.alert?.starts_at).toBe('2026-05-04T12:08:00.000Z');
  });

  it('gives way to a window of the request, and is told all the same', async () => {
    const query = await build({ alert: { startsAt }, window: window('14:00:00', '14:30:00') });
    expect(query.window.source).toBe('request');
    expect(query.alert?.starts_at).toBe('2026-05-04T15:00:00.123Z');
  });

  const webhook = {
    status: 'firing',
    receiver: 'team',
    alerts: [
      {
        status: 'firing',
        labels: { alertname: 'Late' },
        startsAt: '2026-05-04T15:05:00Z',
        endsAt: '0001-01-01T00:00:00Z',
        silenceURL: 'x',
      },
      { status: 'firing', labels: { alertname: 'First' }, startsAt: '2026-05-04T15:00:00Z', endsAt: '0001-01-01T00:00:00Z' },
    ],
  };

  it.each([
    ['the body of a webhook', `Why? ${JSON.stringify(webhook, null, 2)}`],
    ['a list of alerts', JSON.stringify(webhook.alerts)],
    ['one alert', `${JSON.stringify(webhook.alerts[1])} what is going on?`],
    ['a torn document', `"alerts": [{"labels": {"a": "b"}, "startsAt": "2026-05-04T15:00:00Z", "endsAt": "0001-`],
    ['a line of text', '[FIRING:1] HighErrorRate checkout (prod) since 15:00'],
    ['words', 'The alert for checkout fired at 2026-05-04T15:00:00Z, errors above 5% for the last 5 minutes'],
    ['YAML', 'startsAt: 2026-05-04T15:00:00Z\nseverity: page'],
    ['German words', 'HighErrorRate wurde ausgelöst um 15:00'],
  ])('reads the start from a message that holds %s', async (_name, message) => {
    const query = await build({ message });
    expect(query.window).toEqual(sourced('14:50', '16:00', 'alert'));
    expect(query.alert?.ends_at).toBeNull();
  });

  it.each(['Why did the fire drill fail since 15:00?', 'errors started at 15:00', 'at 15:00 an alert said nothing'])(
    'takes %p for no alert',
    async (message) => {
      const query = await build({ message });
      expect(query.window.source).toBe('question');
      expect(query.alert).toBeUndefined();
    },
  );
});

describe('buildQuery in a session', () => {
  const before = async (): Promise<DiagnosisQuery> =>
    build({ message: 'why since 15:00?', baseline: window('13:00:00', '14:00:00') });

  it('looks at what the run before looked at, naming it, and keeps where its baseline came from', async () => {
    const earlier = { id: 'run-1', query: await before() };
    const query = await build({ message: 'why not the database?' }, { earlier }, ONSET);
    expect(query.window).toEqual({ ...sourced('15:00', '16:00', 'session'), run_id: 'run-1' });
    expect(query.baseline).toEqual({ ...sourced('13:00', '14:00', 'request'), run_id: 'run-1' });
    expect(query.focus).toEqual({ ask: 'why_not', subject: 'database' });
    expect(diagnosisQuerySchema.safeParse(query).success).toBe(true);
  });

  it('names the run that a follow-up of a follow-up took its window from', async () => {
    const first = { id: 'run-1', query: await before() };
    const second = { id: 'run-2', query: await build({ message: 'show me the lines' }, { earlier: first }) };
    const query = await build({ message: 'what changed before that?' }, { earlier: second });
    expect(query.window).toEqual({ ...sourced('15:00', '16:00', 'session'), run_id: 'run-2' });
    expect(query.baseline).toEqual({ ...sourced('13:00', '14:00', 'request'), run_id: 'run-2' });
  });

  it.each([
    ['its words', { message: 'since 15:30' }, 'question'],
    ['its own field', { message: 'show me the lines', window: window('15:30:00', '16:00:00') }, 'request'],
    ['an alert', { message: 'show me the lines', alert: { startsAt: '2026-05-04T15:40:00Z' } }, 'alert'],
  ])('leaves that window when a message names one by %s', async (_name, request, source) => {
    const query = await build(request, { earlier: { id: 'run-1', query: await before() } });
    expect(query.window).toMatchObject({ from: '2026-05-04T15:30:00.000Z', source });
    expect(query.window.run_id).toBeUndefined();
    expect(query.baseline?.source).toBe('preceding');
  });

  it('stays within a scope for the lines of what was shown, and leaves it for anything else', async () => {
    const narrowed = await build({ message: 'only eu-west' }, { earlier: { id: 'run-1', query: await before() } });
    expect(narrowed.scope).toEqual({ text: 'eu-west' });
    const earlier = { id: 'run-2', query: narrowed };
    expect((await build({ message: 'show me the lines' }, { earlier })).scope).toEqual({ text: 'eu-west' });
    expect((await build({ message: 'only us-east' }, { earlier })).scope).toEqual({ text: 'us-east' });
    for (const message of ['what about the queue then?', 'why not the database?', 'what changed before that?']) {
      expect((await build({ message }, { earlier })).scope).toBeUndefined();
    }
  });

  it('knows a scope that is the name of a service, as the telemetry writes it', async () => {
    const earlier = { id: 'run-1', query: await before() };
    expect((await build({ message: 'only STOCK' }, { earlier })).scope).toEqual({ text: 'STOCK', service: 'stock' });
    expect((await build({ message: 'only stocks' }, { earlier })).scope).toEqual({ text: 'stocks' });
  });

  it('reads nothing as a follow-up where there is nothing to follow', async () => {
    const query = await build({ message: 'only eu-west' }, {}, ONSET);
    expect(query.scope).toBeUndefined();
    expect(query.window.source).toBe('onset');
  });

  it.each(['from 14:05 to 14:05', 'why since 9999-12-31T23:59:59Z?'])(
    '[A8] refuses "%s", which is no window that can be',
    async (message) => {
      await expect(build({ message })).rejects.toMatchObject({ code: 'REQUEST_INVALID', detail: { field: 'message' } });
    },
  );
});
