import { FAULT_KINDS, type FaultKind } from './incident/faults';
import { generateIncident } from './incident/incident-generator';
import { writeIncident } from './incident/write-incident';

/** `node dist/examples/generate-incident.js <folder> [seed] [kind]`: writes one incident and prints what is true of it. */
function main(): void {
  const [folder, seedText = '1', kindText = 'database_lock'] = process.argv.slice(2);
  const seed = Number(seedText);
  const kind = FAULT_KINDS.find((known) => known === kindText);
  if (folder === undefined || !Number.isSafeInteger(seed) || kind === undefined) {
    console.error(`usage: generate-incident <folder> [seed: whole number] [kind: ${FAULT_KINDS.join(' | ')}]`);
    process.exitCode = 2;
    return;
  }
  const incident = generateIncident(seed, kind satisfies FaultKind);
  writeIncident(incident, folder);
  console.log(JSON.stringify(incident.truth, null, 2));
}

main();
