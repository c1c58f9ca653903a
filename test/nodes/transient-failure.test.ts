import { DiagnosisError } from '../../src/errors/diagnosis-error';
import { isTransientFailure } from '../../src/nodes/transient-failure';

describe('a failure of an agent', () => {
  it.each([
    ['AGENT_TRANSIENT', new DiagnosisError('AGENT_TRANSIENT', 'busy')],
    ...[408, 409, 425, 429, 500, 502, 503, 504].map((status): [string, unknown] => [
      `status ${status}`,
      Object.assign(new Error('x'), { status }),
    ]),
    ['a status of the response', { response: { status: 503 } }],
    ['statusCode', { statusCode: 429 }],
    ['a reset connection', Object.assign(new Error('x'), { code: 'ECONNRESET' })],
    ['a reset connection as the cause', new Error('fetch failed', { cause: { code: 'ECONNRESET' } })],
    ['a timeout', new DOMException('late', 'TimeoutError')],
  ])('[B3] %s may be gone at a second attempt', (_name, error) => {
    expect(isTransientFailure(error)).toBe(true);
  });

  it.each([
    ['AGENT_PERMANENT', new DiagnosisError('AGENT_PERMANENT', 'no')],
    ...[400, 401, 403, 404, 422, 600].map((status): [string, unknown] => [
      `status ${status}`,
      Object.assign(new Error('x'), { status }),
    ]),
    ['a message that only speaks of it', new Error('429 Too Many Requests, timeout, ECONNRESET')],
    ['a status as text', { status: '429' }],
    ['nothing', undefined],
    ['a text', 'ECONNRESET'],
  ])('[B3] %s is permanent', (_name, error) => {
    expect(isTransientFailure(error)).toBe(false);
  });
});
