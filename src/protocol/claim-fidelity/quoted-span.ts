import { isTokenEdge, tokensOf } from './tokens';

export type SpanSearch = { readonly found: string } | { readonly missing: 'QUOTE_TOO_SHORT' | 'QUOTE_NOT_FOUND' };

const SHORTEST_PHRASE = 8;

/**
 * Finds a quote in a text, verbatim up to white space, and answers the span as the text writes it. A quote has at least
 * eight characters or is one whole token; a span that would cut a token at either end is no occurrence.
 */
export function findQuotedSpan(text: string, quote: string): SpanSearch {
  const wanted = quote.trim();
  if (wanted.length < SHORTEST_PHRASE && !isOneToken(wanted)) return { missing: 'QUOTE_TOO_SHORT' };
  const span = findVerbatim(text, wanted);
  return span === null ? { missing: 'QUOTE_NOT_FOUND' } : { found: span };
}

/** The first occurrence of a phrase in a text, verbatim up to white space and at token edges; null when there is none. */
export function findVerbatim(text: string, phrase: string): string | null {
  const words = phrase.trim().split(/\s+/u);
  if (words.length === 1) {
    const word = words[0] ?? '';
    for (let at = word === '' ? -1 : text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
      if (isTokenEdge(text, at) && isTokenEdge(text, at + word.length)) return word;
    }
    return null;
  }
  const pattern = new RegExp(words.map((word) => word.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('\\s+'), 'g');
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    if (isTokenEdge(text, match.index) && isTokenEdge(text, match.index + match[0].length)) return match[0];
    pattern.lastIndex = match.index + 1;
  }
  return null;
}

function isOneToken(text: string): boolean {
  const tokens = tokensOf(text);
  const only = tokens[0];
  return tokens.length === 1 && only !== undefined && only.start === 0 && /^[%]?$/.test(text.slice(only.end));
}
