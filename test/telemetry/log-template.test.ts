import { mergeTemplates, type MaskedKind } from '../../src/telemetry/log-template';
import { question, TelemetryFolder } from './telemetry-folder';

function kinds(...texts: readonly (readonly [text: string, lines: number, site?: string, exception?: string])[]): MaskedKind[] {
  return texts.map(([masked, lines, site = '', exception = ''], kind_id) => ({
    kind_id,
    service: 's',
    level: 'INFO',
    site,
    exception,
    masked,
    lines,
  }));
}

describe('log templates', () => {
  it('masks what varies and keeps what does not', async () => {
    const folder = new TelemetryFolder();
    const messages = [
      ['user 7f3a-11 logged in from 10.1.2.3:8080 in 15ms', 'user <*> logged in from <*> in <*>'],
      ['GET /api/items/42 status=ok path=/a cause:none', 'GET /api/items/<*> status=<*> path=/a cause:<*>'],
      ['at 2026-05-04T10:00:00.123Z said "hello there" and \'bye\'', 'at <*> said <*> and <*>'],
      ['stations [a, b] of {x: {y}} (k=v) plain (words)', 'stations <*> of <*> plain (words)'],
      ['Till#31 paid 5', 'Till#31 paid <*>'],
      ['a <*> b', 'a <*> b'],
    ] as const;
    const rows = messages.map(([message], n) => `{"time":"2026-05-04T10:00:0${n}Z","message":${JSON.stringify(message)}}`);
    folder.write('m.jsonl', rows.join('\n'));
    try {
      const answer = await folder.source().logPatterns(question());
      expect(Object.fromEntries(answer.rows.map((row) => [row.sample, row.template]))).toEqual(Object.fromEntries(messages));
    } finally {
      await folder.remove();
    }
  });

  it('gives lines of one call site one template, apart by exception', () => {
    const merged = mergeTemplates(
      kinds(['A#1 got apples ok', 9, 'A#1'], ['A#1 got pears and plums ok', 2, 'A#1'], ['A#1 failed', 1, 'A#1', 'x.BadError']),
    );
    expect([...merged]).toEqual([
      [0, 'A#1 got <*> ok'],
      [1, 'A#1 got <*> ok'],
      [2, 'A#1 failed <*> x.BadError'],
    ]);
  });

  it('lets rare texts join a similar one, never frequent ones', () => {
    const merged = mergeTemplates(
      kinds(
        ['sent mail to ann today now', 50],
        ['sent mail to bob today now', 60],
        ['sent mail to cy today now', 1],
        ['other words entirely here', 1],
      ),
    );
    expect(merged.get(0)).toBe('sent mail to ann today now');
    expect(merged.get(2)).toBe('sent mail to <*> today now');
    expect(merged.get(1)).toBe(merged.get(2));
    expect(merged.get(3)).toBe('other words entirely here');
  });
});
