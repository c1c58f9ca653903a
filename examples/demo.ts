import 'reflect-metadata';
import { FAULT_KINDS } from './incident/faults';
import { runDemo } from './run-demo';

const USAGE = `usage: npm run demo -- [--seed N] [--kind ${FAULT_KINDS.join('|')}] [--port N] [--once] [--second-look]
With --second-look traces are kept for so short a time that a first look leaves a gap open (kind: slow_dependency).
The service stays up after the answers until Ctrl-C; with --once, or without a terminal, it ends at once.`;

interface Arguments {
  readonly seed: number;
  readonly kind: (typeof FAULT_KINDS)[number];
  readonly port: number;
  readonly once: boolean;
  readonly spansKeptMinutes: number | null;
}

/** The incident and with it how long spans are kept, so that they do not reach back far enough to try a cause on them. */
const SECOND_LOOK = { kind: 'slow_dependency', seed: '4', keptMinutes: 28 } as const;

function readArguments(argv: readonly string[]): Arguments | null {
  const values = new Map<string, string>();
  for (let at = 0; at < argv.length; at += 1) {
    const name = argv[at] as string;
    if (name === '--once' || name === '--second-look') values.set(name, 'yes');
    else if (['--seed', '--kind', '--port'].includes(name) && argv[at + 1] !== undefined)
      values.set(name, argv[(at += 1)] as string);
    else return null;
  }
  const looksTwice = values.has('--second-look');
  const seed = Number(values.get('--seed') ?? (looksTwice ? SECOND_LOOK.seed : '7'));
  const port = Number(values.get('--port') ?? process.env['PORT'] ?? '0');
  const kind = FAULT_KINDS.find(
    (known) => known === (values.get('--kind') ?? (looksTwice ? SECOND_LOOK.kind : 'pool_exhaustion')),
  );
  const spansKeptMinutes = looksTwice ? SECOND_LOOK.keptMinutes : null;
  if (!Number.isSafeInteger(seed) || !Number.isInteger(port) || port < 0 || port > 65_535 || kind === undefined) return null;
  return { seed, kind, port, once: values.has('--once') || !process.stdout.isTTY, spansKeptMinutes };
}

/** `npm run demo`: exits 0 when the planted cause was named and the healthy stretch cleared, 1 otherwise, 2 for wrong arguments. */
async function main(): Promise<void> {
  const settings = readArguments(process.argv.slice(2));
  if (settings === null) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const { truth, incident, healthy, close } = await runDemo({ ...settings, write: (line) => console.log(line) });
  const named = incident.causes.find((cause) => cause.role === 'cause')?.subject === truth.cause;
  const cleared = !healthy.causes.some((cause) => cause.role === 'cause');
  if (!named || !cleared) {
    console.error(named ? 'The healthy stretch was not cleared.' : 'The planted cause was not named.');
    process.exitCode = 1;
  }
  if (settings.once) {
    await close();
    return;
  }
  console.log('The service stays up; Ctrl-C ends it.');
  const end = (): void => {
    void close().finally(() => process.exit());
  };
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : 'The demo failed.');
  process.exitCode = 1;
});
