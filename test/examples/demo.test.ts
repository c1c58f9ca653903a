import { runDemo, type DemoOutcome } from '../../examples/run-demo';
import type { RunView } from '../../src/chat/run-views';

interface Told extends DemoOutcome {
  readonly output: string;
}

/** Runs the demo and hands what came of it to a check, before it is closed. */
async function told(
  settings: Omit<Parameters<typeof runDemo>[0], 'port' | 'write'>,
  check: (demo: Told) => Promise<void>,
): Promise<void> {
  const lines: string[] = [];
  const demo = await runDemo({ ...settings, port: 0, write: (line) => lines.push(line) });
  try {
    await check({ ...demo, output: lines.join('\n') });
  } finally {
    await demo.close();
  }
}

async function runOf(url: string, runId: string): Promise<RunView> {
  return ((await (await fetch(`${url}/api/v1/runs/${runId}`)).json()) as { run: RunView }).run;
}

describe('npm run demo', () => {
  it.each([
    ['pool_exhaustion', 7],
    ['slow_dependency', 21],
    ['bad_deploy', 22],
  ] as const)(
    'names the planted %s, cites it, clears the red herrings and the healthy stretch, and says how to go on',
    (kind, seed) =>
      told({ kind, seed }, async ({ truth, incident, healthy, url, output }) => {
        expect(incident.causes[0]).toMatchObject({ role: 'cause', rank: 1, subject: truth.cause });
        expect(incident.verdict).toBe('PASS');
        expect(incident.degraded).toBe(false);
        expect(incident.answer).toMatch(new RegExp(`Most likely cause: ${truth.cause}\\b.* \\[1\\]`));
        if (truth.trigger !== null) expect(incident.answer).toContain(truth.trigger.text);
        const roleOf = (service: string): string | undefined => incident.causes.find(({ subject }) => subject === service)?.role;
        for (const harmless of [truth.innocent_deploy, truth.noisy_service])
          expect([undefined, 'symptom', 'ruled_out']).toContain(roleOf(harmless));
        expect(healthy.causes.filter((cause) => cause.role === 'cause')).toEqual([]);
        expect(healthy.answer).toContain('Nothing departs from normal');
        expect(output.indexOf('executor …')).toBeLessThan(output.indexOf('Most likely cause'));
        expect(output).toContain('The run went planner > executor > gatekeeper');
        expect(output).toContain(`curl -s ${url}/api/v1/chat`);

        expect((await runOf(url, incident.runId)).status).toBe('SUCCESS');
        const evidence = (await (await fetch(`${url}/api/v1/runs/${incident.runId}/evidence`)).json()) as Record<string, unknown>;
        expect(JSON.stringify(evidence)).toContain(truth.cause);
      }),
  );

  it('[A9] looks a second time where the first look leaves a gap, closes it by another query, and shows both rounds in the trace', () =>
    told({ kind: 'slow_dependency', seed: 4, spansKeptMinutes: 28 }, async ({ truth, incident, url, output }) => {
      expect(incident.causes[0]).toMatchObject({ role: 'cause', subject: truth.cause });
      expect(incident).toMatchObject({ verdict: 'PASS', degraded: false });
      const trace = (await runOf(url, incident.runId)).orchestrationTrace;
      expect(trace?.evidence_retries).toBe(1);
      expect(trace?.path).toEqual([
        ...['planner', 'executor', 'gatekeeper', 'verified_input', 'verifier', 'retry_prepare'],
        ...['planner', 'executor', 'gatekeeper', 'verified_input', 'verifier', 'composer'],
      ]);
      expect(trace?.events.find(({ node }) => node === 'verifier')).toMatchObject({
        outcome: 'EVIDENCE_GAP',
        attempt: { round: 0 },
      });
      expect(trace?.events.filter(({ node }) => node === 'verifier').at(-1)).toMatchObject({
        outcome: 'PASS',
        attempt: { round: 1 },
      });
      expect(output).toContain('retry_prepare COMPLETED');
      expect(output).toContain('a second one asked for what could close it');
    }));
});
