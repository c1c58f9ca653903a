import type { AgentFlow } from '../vocabulary/run-lifecycle';

/** Everything that a message may consist of, after trimming, to be answered by quoting an earlier answer. */
const REPEAT_REQUESTS: readonly RegExp[] = [
  /^(?:please )?(?:show|repeat|quote|print|give)(?: me)?(?: again)? (?:the|your) (?:last|latest|previous|earlier) answer(?: again)?(?: please)?$/,
  /^what was (?:the|your) (?:last|latest|previous) answer$/,
  /^(?:the )?(?:last|previous) answer(?: again)?(?: please)?$/,
  /^(?:bitte )?(?:zeige?|wiederhole?)(?: mir)?(?: bitte)?(?: nochmals?| noch einmal)? (?:die|deine) (?:letzte|vorige) antwort(?: nochmals?| noch einmal)?(?: bitte)?$/,
];

/**
 * Which way a message is answered. A closed rule: DIRECT only when the message asks for nothing but the last answer and the
 * session has one to quote; whatever else it may ask, and in any doubt, the graph.
 */
export function agentFlowOf(message: string, hasQuotableAnswer: boolean): AgentFlow {
  return hasQuotableAnswer && asksToRepeat(message) ? 'DIRECT' : 'DIAGNOSIS_GRAPH';
}

/** Whether a message asks for nothing but an earlier answer. */
export function asksToRepeat(message: string): boolean {
  const plain = message
    .trim()
    .toLowerCase()
    .replace(/[.!?]+$/, '')
    .replace(/,/g, '')
    .replace(/\s+/g, ' ')
    .trim();
  return REPEAT_REQUESTS.some((form) => form.test(plain));
}

/** The answer of a DIRECT run: an earlier stored answer word for word, under its question, run and verdict. */
export function quoteEarlierAnswer(earlier: {
  readonly id: string;
  readonly message: string;
  readonly answer: string;
  readonly verdict: string | null;
}): string {
  const question = earlier.message.replace(/\s+/g, ' ').replace(/[`*_[\]<>#|\\]/g, (mark) => `\\${mark}`);
  return [
    `Quoted from run ${earlier.id}, verdict ${earlier.verdict ?? 'none'}, the newest verified answer of this session. Nothing was looked at anew.`,
    `It answered: ${question}`,
    '---',
    earlier.answer,
  ].join('\n\n');
}
