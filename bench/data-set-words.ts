import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Agreement } from './agreement';

/** Words of a log message that say what it is about: runs of letters and blanks of this length at the least. */
const MESSAGE_PART = /[A-Za-z][A-Za-z ]{18,}[A-Za-z]/g;
const POD_NAME = /\b([a-z][a-z0-9-]+-service)-[0-9a-f]{8,10}-[0-9a-z]{5}\b/g;
const CALL_SITE = /\b[\w.$[\]]+#\d+\b/g;

/** Names and messages that a data folder holds: services, graph nodes, call sites, longer parts of log messages. */
function wordsOf(dataFolder: string): Set<string> {
  const words = new Set<string>();
  const cases = join(dataFolder, 'trainticket', 'cases');
  for (const archive of readdirSync(cases)) {
    // The archive's own headers lie between the files; they hold no such word.
    for (const line of gunzipSync(readFileSync(join(cases, archive)))
      .toString('utf8')
      .split('\n')) {
      for (const [, service] of line.matchAll(POD_NAME)) words.add(service as string);
      const message = line.slice(line.indexOf('"{""log""'));
      for (const [site] of message.matchAll(CALL_SITE)) words.add(site);
      for (const [part] of message.matchAll(MESSAGE_PART)) words.add(part.trim());
    }
  }
  for (const traffic of ['high_traffic', 'low_traffic']) {
    const [header = ''] = gunzipSync(readFileSync(join(dataFolder, 'petshop', traffic, 'noissue', 'metrics.csv.gz')))
      .toString('utf8')
      .split('\n');
    for (const node of header.split(',')) if (node.length >= 6) words.add(node.trim());
  }
  words.delete('microservice');
  return words;
}

function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? sourceFiles(path) : [path];
  });
}

/** Shows that nothing in `src` is tuned to a data set by name: no service, node, call site or log message of it occurs there. */
export function dataSetWordsAgreement(dataFolder: string): Agreement {
  const sources = sourceFiles(join(process.cwd(), 'src')).map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const words = [...wordsOf(dataFolder)];
  const disagreements = words.flatMap((word) =>
    sources.filter(({ text }) => text.includes(word)).map(({ path }) => `${path} holds ${JSON.stringify(word)}`),
  );
  return { name: 'names and messages of the data sets that src must not hold', checked: words.length, disagreements };
}
