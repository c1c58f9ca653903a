import { runDemo } from '../../examples/run-demo';

describe('npm run demo', () => {
  it.each([
    ['pool_exhaustion', 7],
    ['slow_dependency', 21],
    ['bad_deploy', 22],
  ] as const)(
    'names the planted %s, cites it, clears the red herrings and the healthy stretch, and says how to go on',
    async (kind, seed) => {
      const lines: string[] = [];
      const { truth, incident, healthy, url, close } = await runDemo({ kind, seed, port: 0, write: (line) => lines.push(line) });
      try {
        const output = lines.join('\n');
        expect(incident.causes[0]).toMatchObject({ role: 'cause', rank: 1, subject: truth.cause });
        expect(incident.verdict).toBe('PASS');
        expect(incident.degraded).toBe(false);
        expect(incident.answer).toMatch(new RegExp(`Most likely cause: ${truth.cause} - \`.+\`.* \\[1\\]`));
        expect(incident.causes.find((cause) => cause.subject === truth.innocent_deploy)?.role).not.toBe('cause');
        expect(incident.causes.find((cause) => cause.subject === truth.noisy_service)?.role).not.toBe('cause');
        expect(healthy.causes.filter((cause) => cause.role === 'cause')).toEqual([]);
        expect(healthy.answer).toContain('Nothing departs from normal');
        expect(output.indexOf('executor …')).toBeLessThan(output.indexOf('Most likely cause'));
        expect(output).toContain(`curl -s ${url}/api/v1/chat`);

        const { run } = (await (await fetch(`${url}/api/v1/runs/${incident.runId}`)).json()) as { run: { status: string } };
        expect(run.status).toBe('SUCCESS');
        const evidence = (await (await fetch(`${url}/api/v1/runs/${incident.runId}/evidence`)).json()) as Record<string, unknown>;
        expect(JSON.stringify(evidence)).toContain(truth.cause);
      } finally {
        await close();
      }
    },
  );
});
