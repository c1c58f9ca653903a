import type { JsonObject } from '../protocol/json-value';
import { globMatcher, globProblem } from './file-glob';
import type { Planned } from './import-plan';
import type { FolderListing } from './telemetry-files';

/** Files of one entry up to which they are named one by one. */
const NAMED_FILES = 12;
const FAMILIES = ['logs', 'metrics', 'spans', 'graph', 'changes'] as const;

function commonEnd(names: readonly string[]): string {
  const [first = ''] = names;
  let length = first.length;
  for (const name of names) {
    while (length > 0 && !name.endsWith(first.slice(first.length - length))) length -= 1;
  }
  return first.slice(first.length - length);
}

/** One pattern that names just some of the listed files, or null when none of the simple ones does. */
function patternOf(names: readonly string[], listing: FolderListing): string | null {
  const folders = new Set(names.map((name) => name.slice(0, name.lastIndexOf('/') + 1)));
  const [folder = ''] = folders;
  const end = commonEnd(names.map((name) => name.slice(name.lastIndexOf('/') + 1)));
  const pattern = folders.size === 1 ? `${folder}*${end}` : `**/*${end}`;
  const fits = globMatcher(pattern);
  const matched = listing.files.filter((file) => fits(file.name));
  return matched.length === names.length && matched.every((file) => names.includes(file.name)) ? pattern : null;
}

/** Names as patterns that name the files themselves. */
function filesOf(names: readonly string[], listing: FolderListing): string[] {
  const pattern = names.length > NAMED_FILES ? patternOf(names, listing) : null;
  if (pattern !== null) return [pattern];
  return names.map((name) => (globProblem(name) === null ? name : `${name.slice(0, name.lastIndexOf('/') + 1)}*`));
}

/**
 * The mapping that a plan amounts to, as a `telemetry_mapping_v1` that can be written down, changed and used: the entries as
 * a mapping gave them, or one entry for all files that were taken for the same, with their names or a pattern that fits no other.
 */
export function effectiveMapping(planned: readonly Planned[], listing: FolderListing, isInferred: boolean): JsonObject {
  const mapping: Record<string, unknown> = { schema: 'telemetry_mapping_v1' };
  for (const family of FAMILIES) {
    const groups = new Map<string, { readonly entry: Planned['entry']; readonly names: string[] }>();
    for (const { file, entry } of planned.filter((item) => item.family === family)) {
      const key = JSON.stringify(entry);
      const group = groups.get(key) ?? { entry, names: [] };
      group.names.push(file.name);
      groups.set(key, group);
    }
    mapping[family] = [...groups.values()].map(({ entry, names }) => ({
      ...entry,
      files: isInferred ? filesOf(names, listing) : entry.files,
    }));
  }
  // Members that are not set are none.
  return JSON.parse(JSON.stringify(mapping)) as JsonObject;
}
