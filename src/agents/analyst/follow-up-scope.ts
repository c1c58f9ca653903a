import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { JsonObject } from '../../protocol/json-value';
import { CHANGES, ERROR_SHARE, LOG_PATTERNS, SERVICE_GRAPH } from './tool-rows';

/** Tools that can be narrowed to a part of the system that is no service. */
const TAKE_PART: readonly string[] = [LOG_PATTERNS.name, ERROR_SHARE.name];
/** Tools that are asked about everything: who calls whom only orders what others show, and a change of all is one of a part. */
const OF_ALL: readonly string[] = [SERVICE_GRAPH.name, CHANGES.name];

/** Whether a scope is a part of the system that only some tools know. */
export function isPart(scope: DiagnosisQuery['scope']): boolean {
  return scope !== undefined && scope.service === undefined;
}

/**
 * Arguments of a tool within the scope of a question: a service where the scope is one, else the part that names it. Null for
 * a tool that knows no such part, which is then not asked: its answer would be about more than was asked.
 */
export function withinScope(tool: string, args: JsonObject, scope: DiagnosisQuery['scope']): JsonObject | null {
  if (scope === undefined || OF_ALL.includes(tool)) return args;
  if (scope.service !== undefined) return { ...args, service: args['service'] ?? scope.service };
  return TAKE_PART.includes(tool) ? { ...args, part: scope.text } : null;
}
