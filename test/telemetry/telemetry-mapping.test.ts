import { parseTelemetryMapping } from '../../src/telemetry/telemetry-mapping';
import { namedGroups } from '../../src/telemetry/line-shapes';
import { refusal } from './telemetry-folder';

const ENTRY = { files: ['log/*.csv'], format: 'csv', time: { column: 't' }, message: 'm' };

async function problem(mapping: unknown): Promise<string> {
  const text = typeof mapping === 'string' ? mapping : JSON.stringify(mapping);
  const refused = await refusal(Promise.resolve().then(() => parseTelemetryMapping(text, 'mapping.json')));
  expect(refused.code).toBe('MAPPING_INVALID');
  return refused.message;
}

describe('the mapping file', () => {
  it('fills defaults in', () => {
    const mapping = parseTelemetryMapping(
      JSON.stringify({ schema: 'telemetry_mapping_v1', logs: [{ ...ENTRY, service: { column: 'p' } }] }),
      'm',
    );
    expect(mapping).toEqual({
      schema: 'telemetry_mapping_v1',
      logs: [{ ...ENTRY, time: { column: 't', zone: 'UTC' }, service: { column: 'p', strip_suffix_parts: 0 } }],
      metrics: [],
      spans: [],
      graph: [],
      changes: [],
    });
  });

  it.each([
    ['text that is no JSON', '{"schema"', 'no valid JSON'],
    ['nothing named', { schema: 'telemetry_mapping_v1' }, 'names no files'],
    ['an unknown member', { schema: 'telemetry_mapping_v1', logs: [{ ...ENTRY, colour: 'red' }] }, 'colour'],
    ['a file outside', { schema: 'telemetry_mapping_v1', logs: [{ ...ENTRY, files: ['../x.csv'] }] }, 'logs.0.files.0'],
    ['an absolute file', { schema: 'telemetry_mapping_v1', logs: [{ ...ENTRY, files: ['/etc/passwd'] }] }, 'logs.0.files.0'],
    [
      'an unknown zone',
      { schema: 'telemetry_mapping_v1', logs: [{ ...ENTRY, time: { column: 't', zone: 'Mars/Base' } }] },
      'logs.0.time.zone',
    ],
    [
      'a pattern without time',
      { schema: 'telemetry_mapping_v1', logs: [{ files: ['a.log'], format: 'text', text_pattern: '(.*)' }] },
      'group named time',
    ],
    ['an unknown version', { schema: 'telemetry_mapping_v2', logs: [ENTRY] }, 'schema'],
  ])('refuses %s and says where', async (_, mapping, part) => {
    expect(await problem(mapping)).toContain(part);
  });

  it('numbers the groups of a pattern as the engine does', () => {
    const pattern = '^[(](\\()(?:x)(?P<time>a(b))[^)(](?<level>c)$';
    expect(namedGroups(pattern)).toEqual(
      new Map([
        ['time', 2],
        ['level', 4],
      ]),
    );
  });
});
