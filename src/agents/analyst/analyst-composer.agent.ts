import { Injectable } from '@nestjs/common';
import { DiagnosisError } from '../../errors/diagnosis-error';
import { ComposerAgent } from '../../ports/agent-invoker.port';
import type { ComposerAnswer } from '../../protocol/composer-answer';
import { AGENT_INPUTS, type ComposerInput, readAgentInput } from './agent-inputs';
import { claimRoleOf } from './claim-roles';

/** Sections in the order in which they are read, each a name for claims of one kind. */
const HEADINGS = {
  line: 'Lines',
  change: 'What changed',
  asked: 'What was asked about',
  cause: 'What happened',
  trigger: 'What may have set it off',
  check: 'How the cause was put to the test',
  others: 'What else changed',
  symptom: 'What was affected',
  hint: 'What moved without convincing',
  ruled_out: 'What was ruled out',
  range: 'What was found normal',
} as const;
type Section = keyof typeof HEADINGS;

/**
 * Arranges allowed claims under fixed headings: each claim once, in a list. It words nothing, and refuses an answer without
 * claims: `DiagnosisError` AGENT_PERMANENT.
 */
@Injectable()
export class AnalystComposerAgent extends ComposerAgent {
  async invoke(input: string): Promise<string> {
    const material = readAgentInput(AGENT_INPUTS.composer, input);
    const sections = (Object.keys(HEADINGS) as Section[]).flatMap((section) => {
      const ids = material.claims.filter((claim) => sectionOf(claim, material) === section).map(({ claim_id }) => claim_id);
      return ids.length === 0 ? [] : [{ heading: HEADINGS[section], text: ids.map((id) => `- {{${id}}}`).join('\n') }];
    });
    if (sections.length === 0) throw new DiagnosisError('AGENT_PERMANENT', 'There is no allowed claim to arrange.');
    return JSON.stringify({ schema: 'composer_answer_v1', sections } satisfies ComposerAnswer);
  }
}

function sectionOf({ claim_id }: ComposerInput['claims'][number], { assessments }: ComposerInput): Section {
  const owner = assessments.find(({ claim_ids }) => claim_ids.includes(claim_id));
  switch (claimRoleOf(claim_id)) {
    case 'trigger':
      return 'trigger';
    case 'check':
    case 'control':
      return 'check';
    case 'hint':
      return 'hint';
    case 'range':
    case 'line':
    case 'change':
    case 'asked':
      return claimRoleOf(claim_id) as Section;
    case 'clear':
      return 'ruled_out';
    default:
      break;
  }
  switch (owner?.role) {
    case 'cause':
      return 'cause';
    case 'trigger':
      return 'trigger';
    case 'symptom':
      return 'symptom';
    case 'ruled_out':
      return 'ruled_out';
    default:
      return 'others';
  }
}
