const FILLER_WORDS: ReadonlySet<string> = new Set([
  'placeholder',
  'placeholder text',
  'string',
  'text',
  'n/a',
  'na',
  'not applicable',
  'tbd',
  'tba',
  'todo',
  'to be determined',
  'to be defined',
  'to be filled',
  'fill in',
  'none',
  'null',
  'nil',
  'undefined',
  'xxx',
  'same as above',
]);

const WRAPPING = /^[\s<>{}[\]()"'`*_.…-]+|[\s<>{}[\]()"'`*_.…:!?-]+$/g;
const LOREM = /^lorem ipsum\b/;
const INSERT_HERE = /^(?:insert|your|enter|add) .{1,40} here$/;

/** Whether a text only fills a shape: blank, dots and brackets, or a word such as "TBD" that stands for a text to come. */
export function isFillerText(text: string): boolean {
  const core = text.toLowerCase().replace(WRAPPING, '').replace(/\s+/g, ' ');
  return core === '' || FILLER_WORDS.has(core) || LOREM.test(core) || INSERT_HERE.test(core);
}
