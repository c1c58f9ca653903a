import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ChatResult } from '../../src/chat/chat-request';
import { runCommand } from '../../src/cli';

const START = Date.parse('2026-05-04T13:30:00Z');
const STOP = Date.parse('2026-05-04T14:00:00Z');
const RANGES = [
  ...['--from', '2026-05-04T14:00:00Z', '--to', '2026-05-04T14:30:00Z'],
  ...['--baseline-from', '2026-05-04T13:30:00Z', '--baseline-to', '2026-05-04T14:00:00Z'],
];

async function ask(file: string, lines: readonly string[]): Promise<ChatResult> {
  const folder = mkdtempSync(join(tmpdir(), 'silence-'));
  writeFileSync(join(folder, file), lines.join('\n'));
  let out = '';
  const stdout = jest.spyOn(process.stdout, 'write').mockImplementation((text) => ((out += String(text)), true));
  const stderr = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    const code = await runCommand(['ask', 'what is wrong?', folder, ...RANGES, '--json'], { DATABASE_URL: 'sqlite::memory:' });
    expect(code).toBe(0);
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
    rmSync(folder, { recursive: true });
  }
  return JSON.parse(out) as ChatResult;
}

function rolesOf({ causes }: ChatResult): string[] {
  return causes.filter(({ role }) => role !== 'ruled_out').map(({ subject, role }) => `${subject} ${role}`);
}

describe('records that cannot be read', () => {
  it('are no silence of their service, and leave nothing normal beyond doubt', async () => {
    const lines: string[] = [];
    for (let at = START; at < STOP + 1_800_000; at += 6_000) {
      const time = new Date(at).toISOString();
      for (const service of ['cart', 'till', 'stock'])
        lines.push(
          service === 'till' && at >= STOP
            ? '{"time": "broken'
            : JSON.stringify({ time, level: 'info', service, msg: `served ${at}` }),
        );
    }
    const result = await ask('app.jsonl', lines);
    expect(result.verdict).toBe('LOW_CONFID');
    expect(rolesOf(result)).toEqual([]);
    expect(result.answer).toContain('could not be read');
  });
});
