/** Longest pattern of a mapping, in characters, and most stars in it. */
const MAX_PATTERN = 500;
const MAX_STARS = 16;

type Token = 'star' | 'any' | 'deep' | { readonly char: string };

function tokensOf(glob: string): Token[] {
  const parts = glob
    .replaceAll('\\', '/')
    .replace(/^\.\//, '')
    .split(/(\*\*\/|\*|\?)/);
  return parts.flatMap((part): Token[] => {
    if (part === '**/') return ['deep'];
    if (part === '*') return ['star'];
    if (part === '?') return ['any'];
    return Array.from(part, (char) => ({ char }));
  });
}

/** What is wrong with a pattern's size; null when it can be used. */
export function globProblem(glob: string): string | null {
  if (glob.length > MAX_PATTERN) return `must have at most ${MAX_PATTERN} characters`;
  if (glob.split('*').length - 1 > MAX_STARS) return `must have at most ${MAX_STARS} stars`;
  return null;
}

/**
 * Tells whether a relative name fits a pattern: `*` and `?` stay within one folder, `**` with a slash stands for any folders.
 * All ways to fit are followed at once, a character of the name at a time, so that no name takes longer than its length
 * times the length of the pattern.
 */
export function globMatcher(glob: string): (name: string) => boolean {
  const tokens = tokensOf(glob);
  // State 2i stands before token i; state 2i + 1 inside a folder name that `**/` at i has begun.
  const enter = (state: number, into: Set<number>): void => {
    for (let at = state; !into.has(at); at += 2) {
      into.add(at);
      const token = at % 2 === 0 ? tokens[at / 2] : undefined;
      if (token !== 'star' && token !== 'deep') return;
    }
  };
  return (name) => {
    let states = new Set<number>();
    enter(0, states);
    for (const char of name) {
      const next = new Set<number>();
      const isSlash = char === '/';
      for (const state of states) {
        const token = tokens[state >> 1];
        if (token === undefined) continue;
        if (token === 'deep') {
          if (!isSlash) next.add(state | 1);
          else if (state % 2 === 1) enter(state - 1, next);
        } else if (token === 'star') {
          if (!isSlash) enter(state, next);
        } else if (token === 'any' ? !isSlash : token.char === char) enter(state + 2, next);
      }
      if (next.size === 0) return false;
      states = next;
    }
    return states.has(tokens.length * 2);
  };
}
