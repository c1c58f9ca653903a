import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatResult } from '../../src/chat/chat-request';
import { runCommand } from '../../src/cli';

const RANGES = [
  ...['--from', '2026-05-04T14:00:00Z', '--to', '2026-05-04T14:30:00Z'],
  ...['--baseline-from', '2026-05-04T13:30:00Z', '--baseline-to', '2026-05-04T14:00:00Z'],
];
const START = Date.parse('2026-05-04T13:30:00Z');
const STOP = Date.parse('2026-05-04T14:00:00Z');

describe('a system that falls silent as a whole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'fallen-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  async function ask(stops: boolean): Promise<ChatResult> {
    const lines: string[] = [];
    for (let at = 0; at < 3600; at += 6) {
      const time = new Date(START + at * 1000).toISOString();
      const line = (service: string, msg: string): string => JSON.stringify({ time, level: 'info', service, msg });
      lines.push(line('clock', `tick ${at}`));
      if (stops && START + at * 1000 >= STOP) continue;
      for (const service of ['cart', 'till', 'stock']) lines.push(line(service, `handled request ${at}`));
    }
    writeFileSync(join(folder, 'app.jsonl'), lines.join('\n'));
    let out = '';
    const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
    const stderr = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
    try {
      const code = await runCommand(['ask', 'what is wrong?', folder, ...RANGES, '--json'], { DATABASE_URL: 'sqlite::memory:' });
      expect(code).toBe(0);
    } finally {
      stdout.mockRestore();
      stderr.mockRestore();
    }
    return JSON.parse(out) as ChatResult;
  }

  it('[B4] is never called normal, although no service fell silent beside the others', async () => {
    const { answer, verdict, causes } = await ask(true);
    expect(verdict).toBe('LOW_CONFID');
    expect(answer).not.toContain('Nothing departs');
    expect(answer).toMatch(/till: rate of lines fell from 10\S* to 0/);
    expect(causes.map(({ subject, role }) => `${subject} ${role}`).sort()).toEqual([
      'cart symptom',
      'stock symptom',
      'till symptom',
    ]);
  });

  it('[B4] is called normal when it goes on', async () => {
    const { answer, causes } = await ask(false);
    expect(answer).toContain('Nothing departs');
    expect(causes.filter(({ role }) => role !== 'ruled_out')).toEqual([]);
  });
});
