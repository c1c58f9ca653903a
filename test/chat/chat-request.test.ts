import { agentFlowOf, asksToRepeat, quoteEarlierAnswer } from '../../src/chat/agent-flow';
import { parseChatRequest } from '../../src/chat/chat-request';
import { DiagnosisError } from '../../src/errors/diagnosis-error';

const LIMIT = 64;

function refusal(raw: unknown): DiagnosisError {
  try {
    parseChatRequest(raw, LIMIT);
  } catch (error) {
    if (DiagnosisError.is(error)) return error;
    throw error;
  }
  throw new Error('accepted');
}

describe('parseChatRequest', () => {
  it('accepts a full request', () => {
    const request = {
      message: 'why?',
      sessionId: '0190a1b2-0000-7000-8000-000000000000',
      window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T15:00:00+00:00' },
      baseline: { from: '2026-05-04T13:00:00Z', to: '2026-05-04T14:00:00Z' },
      alert: {
        status: 'firing' as const,
        labels: { alertname: 'HighErrorRate', service: 'checkout' },
        annotations: { summary: 'errors' },
        startsAt: '2026-05-04T14:05:00.123456789Z',
        endsAt: '0001-01-01T00:00:00Z',
        generatorURL: 'http://prometheus/graph',
        fingerprint: 'c5bb7ac3f1c7d0ab',
      },
      timeZone: 'Europe/Berlin',
      locale: 'de-CH',
    };
    expect(parseChatRequest(request, LIMIT)).toEqual(request);
  });

  it.each([
    ['an empty message', { message: '' }, 'message', /not blank/],
    ['a blank message', { message: ' \n\t' }, 'message', /not blank/],
    ['a number as message', { message: 7 }, 'message', /must be the question as a text/],
    ['no message', {}, 'message', /must be the question as a text/],
    ['nothing', undefined, 'request', /must be an object/],
    ['a text', 'why?', 'request', /must be an object/],
    ['an array', [], 'request', /must be an object/],
    ['an unknown field', { message: 'why?', mesage: 'x' }, 'request', /unknown fields \(mesage\)/],
    ['a session id that is no UUID', { message: 'why?', sessionId: 'abc' }, 'sessionId', /UUID/],
    ['an unknown zone', { message: 'why?', timeZone: 'Mars/Base' }, 'timeZone', /IANA/],
    ['a locale that is none', { message: 'why?', locale: '!!' }, 'locale', /BCP 47/],
    [
      'a window without zone',
      { message: 'why?', window: { from: '2026-05-04T14:00:00', to: '2026-05-04T15:00:00Z' } },
      'window.from',
      /RFC 3339/,
    ],
    ['an alert without a start', { message: 'why?', alert: { labels: {} } }, 'alert.startsAt', /RFC 3339/],
    ['an alert without a zone', { message: 'why?', alert: { startsAt: '2026-05-04T14:00:00' } }, 'alert.startsAt', /RFC 3339/],
    [
      'an unknown field of an alert',
      { message: 'why?', alert: { startsAt: '2026-05-04T14:00:00Z', severity: 'page' } },
      'alert',
      /must be an object \{ startsAt/,
    ],
    [
      'a status that is none',
      { message: 'why?', alert: { startsAt: '2026-05-04T14:00:00Z', status: 'x' } },
      'alert.status',
      /firing/,
    ],
    [
      'a label that is no text',
      { message: 'why?', alert: { startsAt: '2026-05-04T14:00:00Z', labels: { a: 1 } } },
      'alert.labels.a',
      /string/,
    ],
    [
      'too many labels',
      {
        message: 'why?',
        alert: {
          startsAt: '2026-05-04T14:00:00Z',
          labels: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`l${at}`, 'x'])),
        },
      },
      'alert.labels',
      /at most 32 names/,
    ],
    [
      'a window turned round',
      { message: 'why?', window: { from: '2026-05-04T15:00:00Z', to: '2026-05-04T14:00:00Z' } },
      'window',
      /before/,
    ],
    [
      'an empty window',
      { message: 'why?', window: { from: '2026-05-04T15:00:00Z', to: '2026-05-04T15:00:00Z' } },
      'window',
      /before/,
    ],
    [
      'a baseline within the window',
      {
        message: 'why?',
        window: { from: '2026-05-04T14:00:00Z', to: '2026-05-04T15:00:00Z' },
        baseline: { from: '2026-05-04T13:30:00Z', to: '2026-05-04T14:01:00Z' },
      },
      'baseline',
      /overlap/,
    ],
  ])('[C2] refuses %s, naming the field and what would be right', (_name, raw, field, words) => {
    const error = refusal(raw);
    expect(error.code).toBe('REQUEST_INVALID');
    expect(error.detail['field']).toBe(field);
    expect(error.message).toMatch(words);
  });

  it('[C2] refuses a message above the limit in bytes, naming the limit, and counts bytes rather than characters', () => {
    expect(parseChatRequest({ message: 'x'.repeat(LIMIT) }, LIMIT).message).toHaveLength(LIMIT);
    const error = refusal({ message: 'ü'.repeat(LIMIT / 2 + 1) });
    expect(error.code).toBe('REQUEST_TOO_LARGE');
    expect(error.detail).toEqual({ field: 'message', limitBytes: LIMIT });
  });
});

describe('agentFlowOf', () => {
  it.each([
    'show the last answer',
    'Repeat your last answer!',
    'please show me the previous answer again',
    'Zeige mir die letzte Antwort.',
  ])('answers %p directly when the session has something to quote', (message) => {
    expect(agentFlowOf(message, true)).toBe('DIRECT');
    expect(agentFlowOf(message, false)).toBe('DIAGNOSIS_GRAPH');
  });

  it.each([
    'show the last answer and check whether it still holds',
    'was the last answer right?',
    'repeat the last answer for service b',
    'show the last error',
    'why?',
    'the last answer is wrong, look again',
  ])('in doubt diagnoses: %p', (message) => {
    expect(asksToRepeat(message)).toBe(false);
    expect(agentFlowOf(message, true)).toBe('DIAGNOSIS_GRAPH');
  });

  it('quotes word for word, with run and verdict', () => {
    const text = quoteEarlierAnswer({ id: 'run-1', message: 'why *now*?\n', answer: 'It is **a**.\n\n- b', verdict: 'PASS' });
    expect(text).toContain('run-1');
    expect(text).toContain('verdict PASS');
    expect(text).toContain('why \\*now\\*?');
    expect(text.endsWith('It is **a**.\n\n- b')).toBe(true);
  });
});
