import type {
  ChangeRow,
  ErrorShareRow,
  LogPatternRow,
  LogSequenceRow,
  MetricAnomalyRow,
  ServiceEdgeRow,
  SpanServiceRow,
} from '../../ports/telemetry-source.port';
import type { DiagnosisQuery } from '../../protocol/diagnosis-query';
import type { Answer } from './telemetry-look';
import type { Thresholds } from './thresholds';

/** Everything that a first round saw, as answers whose rows can be cited. */
export interface Seen {
  readonly query: DiagnosisQuery;
  readonly thresholds: Thresholds;
  readonly sequences: Answer<LogSequenceRow> | null;
  readonly shares: Answer<ErrorShareRow> | null;
  readonly patterns: Answer<LogPatternRow> | null;
  readonly metrics: Answer<MetricAnomalyRow> | null;
  readonly spans: Answer<SpanServiceRow> | null;
  readonly edges: Answer<ServiceEdgeRow> | null;
  /** Lines that tell of changes, and changes that were recorded as such. */
  readonly changes: readonly Answer<LogPatternRow>[];
  readonly recorded: Answer<ChangeRow> | null;
  /** Lines of one service each, asked because the service came under suspicion. */
  readonly followUps: ReadonlyMap<string, Answer<LogPatternRow>>;
}
