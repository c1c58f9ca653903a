import type { Agreement } from './agreement';
import { dataSetWordsAgreement } from './data-set-words';
import { modelOutputsAgreement } from './model-outputs-agreement';
import { rfc6901Agreement } from './rfc6901-agreement';

/** Every comparison of the protocol with a data folder. */
const AGREEMENTS: readonly ((dataFolder: string) => Agreement)[] = [
  modelOutputsAgreement,
  rfc6901Agreement,
  dataSetWordsAgreement,
];

function main(dataFolder: string | undefined): number {
  if (dataFolder === undefined) {
    console.error('Usage: node dist/bench/protocol-data.js <data folder that holds protocol/>');
    return 1;
  }
  let failed = false;
  for (const agreementOf of AGREEMENTS) {
    const { name, checked, disagreements } = agreementOf(dataFolder);
    console.log(`${name}: ${checked - disagreements.length} of ${checked} rows agree`);
    for (const line of disagreements) console.log(`  ${line}`);
    failed ||= disagreements.length > 0 || checked === 0;
  }
  return failed ? 1 : 0;
}

process.exitCode = main(process.argv[2]);
