import type { RankedCause } from '../protocol/run-evidence';
import type { AssessmentRole } from '../vocabulary/evidence-terms';

/**
 * The place, from 1, of a subject among the causes of a run that have one of the roles; null when none of them is that subject.
 * Causes of one rank share the worst of their places, so that naming everything first earns nothing.
 */
export function placeAmongCauses(
  isSubject: (subject: string) => boolean,
  causes: readonly RankedCause[],
  roles: ReadonlySet<AssessmentRole>,
): number | null {
  const named = causes.filter(({ role }) => roles.has(role));
  const ranks = named.filter(({ subject }) => isSubject(subject)).map(({ rank }) => rank);
  if (ranks.length === 0) return null;
  const best = Math.min(...ranks);
  return named.filter(({ rank }) => rank <= best).length;
}
