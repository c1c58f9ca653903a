import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blueprintDocument } from './blueprint-document';

async function writeBlueprint(): Promise<void> {
  const file = join(process.cwd(), 'openspec', 'blueprint.md');
  await writeFile(file, await blueprintDocument(), 'utf8');
  process.stdout.write(`${file} written\n`);
}

writeBlueprint().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
