import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Fewest specs and changes that must have been looked at: validation of nothing passes too. */
const LEAST_ITEMS = 25;
const LEAST_ARCHIVED = 9;

const require = createRequire(import.meta.url);
const manifest = join(dirname(require.resolve('@fission-ai/openspec')), '..', 'package.json');
const bin = JSON.parse(readFileSync(manifest, 'utf8')).bin.openspec;
const program = join(dirname(manifest), bin);

function validate(args, least) {
  const output = execFileSync(process.execPath, [program, 'validate', ...args, '--no-interactive'], {
    encoding: 'utf8',
    env: { ...process.env, OPENSPEC_TELEMETRY: '0', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  process.stdout.write(output);
  const totals = /(\d+) passed, (\d+) failed/.exec(output);
  if (totals === null || Number(totals[1]) < least || Number(totals[2]) > 0) {
    throw new Error(`openspec validate ${args.join(' ')}: expected at least ${least} passed and none failed.`);
  }
}

validate(['--all', '--strict'], LEAST_ITEMS);
validate(['--archived'], LEAST_ARCHIVED);
