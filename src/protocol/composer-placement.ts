const PLACEMENT = /\{\{([A-Za-z][A-Za-z0-9_-]{0,63})\}\}/g;

/** Claim ids that a composer's text places, in order, as often as they stand there. */
export function placedClaimIds(text: string): string[] {
  return Array.from(text.matchAll(PLACEMENT), (match) => match[1] as string);
}

/** A composer's text with every `{{claim_id}}` replaced, its own words between them passed through `own`. */
export function fillPlacements(text: string, own: (words: string) => string, claim: (claimId: string) => string): string {
  let filled = '';
  let last = 0;
  for (const match of text.matchAll(PLACEMENT)) {
    filled += own(text.slice(last, match.index)) + claim(match[1] as string);
    last = match.index + match[0].length;
  }
  return filled + own(text.slice(last));
}
