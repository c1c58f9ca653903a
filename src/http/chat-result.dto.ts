import { ASSESSMENT_ROLES, type AssessmentRole } from '../vocabulary/evidence-terms';
import { VERDICTS, type Verdict } from '../vocabulary/verdicts';
import { DescribedProperty } from './openapi-decorators';

/** One subject's part in the incident. */
export class RankedCauseDto {
  @DescribedProperty({ type: Number, minimum: 1, description: '1 is the most likely.' })
  rank!: number;

  @DescribedProperty({ type: String, example: 'orders' })
  subject!: string;

  @DescribedProperty({ enum: ASSESSMENT_ROLES })
  role!: AssessmentRole;

  @DescribedProperty({ type: [String], description: 'Claims that carry it; each is in the evidence of the run.' })
  claimIds!: string[];
}

/** The answer of a run. */
export class ChatResultDto {
  @DescribedProperty({ type: String, description: 'Markdown with numbered citations.' })
  answer!: string;

  @DescribedProperty({ type: String, format: 'uuid' })
  sessionId!: string;

  @DescribedProperty({ type: String, format: 'uuid' })
  runId!: string;

  @DescribedProperty({
    enum: VERDICTS,
    nullable: true,
    description: 'Effective verdict of the final round; null when no verifier spoke.',
  })
  verdict!: Verdict | null;

  @DescribedProperty({ type: Boolean, description: 'Whether the deterministic fallback answered.' })
  degraded!: boolean;

  @DescribedProperty({
    type: () => [RankedCauseDto],
    description: 'From verified material only; empty when nothing was verified.',
  })
  causes!: readonly RankedCauseDto[];
}
