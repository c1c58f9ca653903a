import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { findPaths, WantedPaths } from '../src/protocol/json-source';
import { parseRawPath } from '../src/protocol/raw-path';
import type { Agreement } from './agreement';

const examplesSchema = z.object({
  document: z.unknown(),
  valid: z.array(z.tuple([z.string(), z.unknown()])).min(1),
  must_not_resolve: z.array(z.string()).min(1),
});

/** The source slice that a raw path leads to in a JSON text, or null. */
function resolvedSlice(source: string, rawPath: string): string | null {
  const path = parseRawPath(rawPath);
  if (path === null) return null;
  const wanted = new WantedPaths();
  const found = wanted.add(path.tokens, path.lines);
  findPaths(source, 0, wanted, new Set());
  const { place } = found();
  return place === null ? null : source.slice(place.start, place.end);
}

/** Compares raw paths with every row of `protocol/rfc6901_examples.json`: values where they resolve, nothing where they must not. */
export function rfc6901Agreement(dataFolder: string): Agreement {
  const file = join(dataFolder, 'protocol', 'rfc6901_examples.json');
  const { document, valid, must_not_resolve } = examplesSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const source = JSON.stringify(document);
  const disagreements: string[] = [];
  valid.forEach(([pointer, value], index) => {
    const slice = resolvedSlice(source, pointer);
    // the first row stands for the whole document
    const expected = index === 0 && pointer === '' && value === null ? document : value;
    if (slice === null) disagreements.push(`valid ${JSON.stringify(pointer)}: does not resolve`);
    else if (!isDeepStrictEqual(JSON.parse(slice), expected))
      disagreements.push(`valid ${JSON.stringify(pointer)}: another value`);
  });
  for (const pointer of must_not_resolve) {
    if (resolvedSlice(source, pointer) !== null) disagreements.push(`must_not_resolve ${JSON.stringify(pointer)}: resolves`);
  }
  return { name: 'rfc6901_examples.json', checked: valid.length + must_not_resolve.length, disagreements };
}
