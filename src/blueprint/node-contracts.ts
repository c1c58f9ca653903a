import { NODE_OUTCOMES } from '../vocabulary/outcomes';
import type { NodeName } from '../vocabulary/node-names';
import type { FallbackClass } from '../vocabulary/statuses';
import type { DiagnosisState, FieldsOwnedBy, StateField } from './state-fields';

interface NodeContract<N extends NodeName> {
  /** Fields that the guard hands to the node; everything else is out of its sight. */
  readonly reads: readonly StateField[];
  /** Fields that the node may write: all that it owns, and nothing else. */
  readonly writes: readonly FieldsOwnedBy<N>[];
  readonly outcomes: (typeof NODE_OUTCOMES)[N];
  /** What the guard writes in the node's stead when it throws. */
  readonly on_throw: Partial<Pick<DiagnosisState, FieldsOwnedBy<N>>>;
}

/** Reads, writes, outcomes and the status of a thrown attempt, node by node. */
export const NODE_CONTRACTS = {
  planner: {
    reads: ['diagnosis_query', 'session_context', 'planner_mode', 'evidence_retry_context'],
    writes: ['planner_status', 'diagnosis_plan'],
    outcomes: NODE_OUTCOMES.planner,
    on_throw: { planner_status: 'NON_RETRYABLE_FAILED' },
  },
  executor: {
    reads: ['diagnosis_query', 'planner_mode', 'diagnosis_plan', 'evidence_retry_context'],
    writes: ['executor_status', 'executor_output'],
    outcomes: NODE_OUTCOMES.executor,
    on_throw: { executor_status: 'FAILED' },
  },
  gatekeeper: {
    reads: ['executor_output'],
    writes: ['gatekeeper_result', 'gatekeeper_status', 'verdict_ceiling', 'gatekeeper_audit'],
    outcomes: NODE_OUTCOMES.gatekeeper,
    on_throw: { gatekeeper_status: 'REJECT' },
  },
  verified_input: {
    reads: ['executor_output', 'gatekeeper_result', 'gatekeeper_status'],
    writes: ['verified_input_status', 'verified_executor_output', 'verified_evidence'],
    outcomes: NODE_OUTCOMES.verified_input,
    on_throw: { verified_input_status: 'FAILED' },
  },
  verifier: {
    reads: [
      'diagnosis_query',
      'verified_executor_output',
      'verified_evidence',
      'gatekeeper_audit',
      'verdict_ceiling',
      'evidence_retry_context',
    ],
    writes: ['verifier_status', 'verifier_model_verdict', 'effective_verdict', 'verifier_facts', 'allowed_material'],
    outcomes: NODE_OUTCOMES.verifier,
    on_throw: { verifier_status: 'NON_RETRYABLE_FAILED' },
  },
  retry_prepare: {
    reads: ['verified_executor_output', 'verified_evidence', 'verifier_facts', 'evidence_retry_count'],
    writes: ['planner_mode', 'evidence_retry_count', 'evidence_retry_context', 'retry_prepare_status'],
    outcomes: NODE_OUTCOMES.retry_prepare,
    on_throw: { retry_prepare_status: 'FAILED' },
  },
  composer: {
    reads: ['diagnosis_query', 'effective_verdict', 'allowed_material'],
    writes: ['composer_status', 'composer_answer'],
    outcomes: NODE_OUTCOMES.composer,
    on_throw: { composer_status: 'NON_RETRYABLE_FAILED' },
  },
  fallback: {
    reads: ['diagnosis_query', 'orchestration_events'],
    writes: ['fallback_class', 'fallback_reason', 'fallback_answer'],
    outcomes: NODE_OUTCOMES.fallback,
    on_throw: { fallback_reason: 'FALLBACK_FAILED' },
  },
} as const satisfies { [N in NodeName]: NodeContract<N> };

/** What the fallback may read beyond its contract, by the class it is entered with: nothing before verification. */
export const FALLBACK_MATERIAL = {
  PRE_VERIFICATION: [],
  POST_VERIFICATION: ['effective_verdict', 'allowed_material'],
} as const satisfies Record<FallbackClass, readonly StateField[]>;

/** Fields whose clearing is not the guard's business when a node is attempted: they carry a schema default. */
export const UNCLEARED_OUTPUTS = [
  'planner_mode',
  'evidence_retry_count',
  'evidence_retry_context',
] as const satisfies readonly StateField[];

type DeclaredReads<N extends NodeName> = (typeof NODE_CONTRACTS)[N]['reads'][number];
type FallbackReads = (typeof FALLBACK_MATERIAL)[FallbackClass][number];

/** Exactly what a node sees. An undeclared read is a type error. */
export type NodeView<N extends NodeName> = Readonly<Pick<DiagnosisState, DeclaredReads<N>>> &
  (N extends 'fallback' ? Readonly<Partial<Pick<DiagnosisState, FallbackReads>>> : unknown);

/** Exactly what a node may return. A write to a foreign field is a type error. */
export type NodeUpdate<N extends NodeName> = Partial<Pick<DiagnosisState, (typeof NODE_CONTRACTS)[N]['writes'][number]>>;
