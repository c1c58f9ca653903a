import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { ChatResult } from '../src/chat/chat-request';
import type { RunView } from '../src/chat/run-views';
import type { FaultKind } from './incident/faults';
import { generateIncident, questionOf, type IncidentSettings, type IncidentTruth } from './incident/incident-generator';
import { writeIncident } from './incident/write-incident';
import { postForEvents } from './sse-client';

const HOST = '127.0.0.1';

/** What the demo is run with. */
export interface DemoSettings extends IncidentSettings {
  readonly seed: number;
  readonly kind: FaultKind;
  /** Port to listen on; 0 takes any free one. */
  readonly port: number;
  readonly write: (line: string) => void;
}

/** What came of it, and how to end it. */
export interface DemoOutcome {
  readonly truth: IncidentTruth;
  readonly incident: ChatResult;
  readonly healthy: ChatResult;
  readonly url: string;
  readonly close: () => Promise<void>;
}

/**
 * The whole product on a bundled incident: makes the telemetry, starts the service on it, asks about the incident and about a
 * healthy stretch over HTTP, and shows which way each run took. The service stays up until `close`. It refuses to help the service: what was planted is only shown
 * after the answers.
 */
export async function runDemo({ seed, kind, port, write, ...settings }: DemoSettings): Promise<DemoOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-diagnosis-demo-'));
  const telemetry = join(folder, 'telemetry');
  const incident = generateIncident(seed, kind, settings);
  writeIncident(incident, telemetry);
  const { truth } = incident;
  write(`Logs, spans, metrics and changes of a small shop are in ${telemetry} (seed ${seed}).`);

  const app = await startService({ DIAGNOSIS_TELEMETRY: telemetry, DATABASE_URL: `sqlite:${join(folder, 'runs.sqlite')}` }, port);
  const url = await app.getUrl();
  write(`The service listens on ${url}; its API is described at ${url}/docs.\n`);
  const close = async (): Promise<void> => {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { window, baseline, healthy } = truth;
    const first = await ask(url, { message: questionOf(truth), window, baseline }, write);
    const second = await ask(
      url,
      {
        message: 'Was anything wrong before that?',
        window: healthy,
        baseline: { from: baseline.from, to: healthy.from },
        sessionId: first.sessionId,
      },
      write,
    );
    const deploy = truth.trigger === null ? '' : `, set off by its deploy at ${truth.trigger.at}`;
    write(
      `(Planted by the generator: ${truth.kind} in ${truth.cause}${deploy}; an innocent deploy of ${truth.innocent_deploy}.)\n`,
    );
    write(nextSteps(url, first, truth));
    return { truth, incident: first, healthy: second, url, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startService(environment: Record<string, string>, port: number): Promise<NestExpressApplication> {
  Object.assign(process.env, { LOG_LEVEL: 'warn', ...environment });
  // Settings are read when the module is loaded for the first time, so it must not be loaded earlier.
  const [{ AppModule }, { configureService }] = await Promise.all([import('../src/app.module'), import('../src/main')]);
  const app = await configureService(
    await NestFactory.create<NestExpressApplication>(AppModule, { bodyParser: false, bufferLogs: true, abortOnError: false }),
  );
  await app.listen(port, HOST);
  return app;
}

async function ask(
  url: string,
  request: { message: string } & Record<string, unknown>,
  write: (line: string) => void,
): Promise<ChatResult> {
  write(`> ${request.message}\n`);
  for await (const { name, data } of postForEvents(`${url}/api/v1/chat/stream`, request)) {
    if (name === 'node') write(`  ${String(data['node'])} ${data['phase'] === 'started' ? '…' : String(data['outcome'])}`);
    if (name === 'tool' && data['phase'] === 'finished') write(`    ${String(data['tool_name'])} ${String(data['status'])}`);
    if (name === 'error') throw new Error(String(data['detail']));
    if (name === 'result') {
      const result = data as unknown as ChatResult;
      write(`\n${result.answer}\n`);
      write(await wayOf(url, result.runId));
      return result;
    }
  }
  throw new Error('The stream ended without a result.');
}

/** The way a run took through the graph, as its audit has it. */
async function wayOf(url: string, runId: string): Promise<string> {
  const { run } = (await (await fetch(`${url}/api/v1/runs/${runId}`)).json()) as { run: RunView };
  const trace = run.orchestrationTrace;
  if (trace === undefined || trace === null) return '';
  const again =
    trace.evidence_retries === 0 ? '' : ' The first look left a gap open, so a second one asked for what could close it.';
  return `The run went ${trace.path.join(' > ')}.${again}\n`;
}

function nextSteps(url: string, result: ChatResult, truth: IncidentTruth): string {
  const body = JSON.stringify({ message: questionOf(truth), window: truth.window, baseline: truth.baseline });
  return [
    'Ask the next question:',
    '',
    `  curl -s ${url}/api/v1/chat -H 'content-type: application/json' -d '${body}'`,
    '',
    'Read the run, and the evidence behind each sentence:',
    '',
    `  curl -s ${url}/api/v1/runs/${result.runId}`,
    `  curl -s ${url}/api/v1/runs/${result.runId}/evidence`,
    '',
  ].join('\n');
}
