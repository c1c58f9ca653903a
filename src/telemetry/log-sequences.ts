import type { LogSequenceQuery, LogSequenceRow } from '../ports/telemetry-source.port';
import {
  type CalleeCount,
  type ErrorLineCount,
  sequenceCandidates,
  type SequenceCandidate,
  sequenceScore,
  type SuccessorCount,
} from './sequence-candidates';

/** Statements on one connection, so that temporary tables live from one to the next. Interrupted when the question is. */
export interface SequenceSession {
  run(sql: string, values?: readonly (string | number | bigint)[]): Promise<void>;
  rows<Row>(sql: string, values?: readonly (string | number | bigint)[]): Promise<Row[]>;
}

/** Ends of a flow this close to the end of its window may only be cut off by it, so they are not counted: one second. */
const CUT_GUARD_NS = 1_000_000_000n;
const END = 'END';

/** Flow of an event: its trace and span in its service, or the stream of its instance where there are no trace ids. */
const FLOW_BY_TRACE = {
  trace: 'trace',
  flow: `service || '/' || coalesce(span, '')`,
  where: `and trace is not null and trace <> ''`,
};
const FLOW_BY_INSTANCE = { trace: `side || coalesce(instance, service)`, flow: 'service', where: '' };

function eventsSql(byTrace: boolean): string {
  const { trace, flow, where } = byTrace ? FLOW_BY_TRACE : FLOW_BY_INSTANCE;
  return `
    create or replace temp table sequence_events as
    with sides as (
      select 'b' as side, * from log_events where ts >= $1 and ts < $2 ${where}
      union all
      select 'i' as side, * from log_events where ts >= $3 and ts < $4 ${where}
    )
    select side, ${trace} as trace, ${flow} as flow, service, ts, is_error, step, id from sides`;
}

const STEPS_SQL = `
  create or replace temp table sequence_steps as
  with last_of_window as (select side, max(ts) as last_ts from sequence_events group by side),
  followed as (
    select *,
      lead(step) over in_flow as next_step,
      lead(is_error) over in_flow as next_is_error,
      lead(ts) over in_flow as next_ts,
      lead(service) over in_trace as next_service,
      max(ts) over (partition by side, trace) as trace_end
    from sequence_events
    window in_flow as (partition by side, trace, flow order by ts, step, id),
      in_trace as (partition by side, trace order by ts, service, step, id)
  )
  select side, trace, service, ts, step, is_error, id, coalesce(next_ts, ts) as deviates_at,
    coalesce(next_step, '${END}') as next,
    case when next_step is null then 'end' when next_is_error then 'error' else 'other' end as outcome,
    case when next_service is null or next_service = service then '' else next_service end as callee,
    next_step is null and trace_end > last_ts - $1 as cut_off
  from followed join last_of_window using (side)`;

const COUNTS = `(count(*) filter (side = 'b'))::int as b, (count(*) filter (side = 'i'))::int as i`;

const SUCCESSORS_SQL = `
  select service, step, next, outcome, ${COUNTS} from sequence_steps where not cut_off
  group by service, step, next, outcome order by service, step, next, outcome`;

const CALLEES_SQL = `
  select service, step, next, callee, ${COUNTS} from sequence_steps where outcome <> 'end'
  group by service, step, next, callee order by service, step, next, callee`;

function errorLinesSql(byTrace: boolean): string {
  const unit = byTrace ? 'trace' : 'id';
  const counts = (prefix: string): string =>
    `(count(distinct ${unit}) filter (side = 'b'))::int as b${prefix}, (count(distinct ${unit}) filter (side = 'i'))::int as i${prefix}`;
  return `
    with totals as (select service, ${counts('_total')} from sequence_steps group by service),
    lines as (select service, step, ${counts('')} from sequence_steps where is_error group by service, step)
    select service, step, b, i, b_total, i_total from lines join totals using (service) order by service, step`;
}

/** Which incident events show a candidate; an error line counts once in a trace. */
const HITS_SQL = `
  create or replace temp table sequence_hits as
  with hits as (
    select c.id as candidate, c.blames, c.kind_order, s.trace, s.ts, s.service, s.step, s.id,
      case when c.kind_order = 0 then s.ts else s.deviates_at end as shown_at,
      row_number() over (partition by c.id, s.trace order by s.ts, s.id) as nth
    from sequence_steps s join sequence_candidates c on c.service = s.service and c.step = s.step
    where s.side = 'i' and (
      c.kind_order = 0
      or (c.kind_order = 1 and not s.cut_off and s.next = c.next)
      or (c.kind_order = 2 and s.next = c.next and s.next <> '${END}' and s.callee <> c.blames)
      or (c.kind_order = 3 and not s.cut_off and s.next = c.next))
  )
  select * from hits where kind_order <> 0 or nth = 1`;

/**
 * The first harmful hit of a trace, by the time at which it shows, decides which service the trace speaks against (a change of
 * route never does). A step shows its change only when the next line is there: a caller that waits for a failing callee shows
 * it later than the callee.
 */
const FIRST_SQL = `
  with verdicts as (
    select trace, arg_min(blames, (shown_at, ts, service, step, id, kind_order, candidate)) as blamed
    from sequence_hits where kind_order <> 3 group by trace
  ),
  votes as (select blamed as blames, count(*)::int as votes from verdicts group by blamed),
  firsts as (
    select h.candidate, (count(*) filter (v.blamed = h.blames))::int as first, arg_min(h.id, (h.ts, h.id)) as sample_id, min(h.ts) as first_ts
    from sequence_hits h left join verdicts v using (trace) group by h.candidate
  )
  select f.candidate, f.first, coalesce(v.votes, 0) as votes, e.message as sample, f.first_ts as first_ts
  from firsts f
  join (select distinct candidate, blames from sequence_hits) b using (candidate)
  left join votes v using (blames)
  join log_events e on e.id = f.sample_id
  order by f.candidate`;

const KIND_ORDER = { error_line: 0, cut: 1, missing: 2, reroute: 3 } as const;

interface FirstRow {
  readonly candidate: number;
  readonly first: number;
  readonly votes: number;
  readonly sample: string;
  readonly first_ts: bigint;
}

async function storeCandidates(session: SequenceSession, candidates: readonly SequenceCandidate[]): Promise<void> {
  await session.run(
    `create or replace temp table sequence_candidates (id int, kind_order int, blames varchar, service varchar, step varchar, next varchar)`,
  );
  for (const candidate of candidates) {
    for (const next of candidate.next.length === 0 ? [''] : candidate.next) {
      await session.run(`insert into sequence_candidates values ($1, $2, $3, $4, $5, $6)`, [
        candidate.id,
        KIND_ORDER[candidate.kind],
        candidate.blames,
        candidate.service,
        candidate.step,
        next,
      ]);
    }
  }
}

/** A change of succession with its votes, before it is worded for a tool. */
export interface SequenceFinding extends Omit<LogSequenceRow, 'first_seen'> {
  readonly first_ts: bigint;
}

/**
 * Compares what follows each step in the incident window with what followed it in the baseline, and lets every flow vote for
 * the service of its first harmful deviation, so that what only follows from it weighs less. Method of this project; the
 * statistic is the likelihood ratio G. It refuses to conclude: counts are evidence, votes and scores are ranks.
 * Expects a relation `log_events(id, ts, service, instance, trace, span, step, is_error, message)` with `ts` in nanoseconds.
 */
export async function findSequenceChanges(
  session: SequenceSession,
  range: { readonly baseline: readonly [bigint, bigint]; readonly window: readonly [bigint, bigint] },
  query: Pick<LogSequenceQuery, 'service'>,
  byTrace: boolean,
): Promise<SequenceFinding[]> {
  await session.run(eventsSql(byTrace), [...range.baseline, ...range.window]);
  await session.run(STEPS_SQL, [CUT_GUARD_NS]);
  const successors = await session.rows<SuccessorCount>(SUCCESSORS_SQL);
  const callees = byTrace ? await session.rows<CalleeCount>(CALLEES_SQL) : [];
  const errorLines = await session.rows<ErrorLineCount>(errorLinesSql(byTrace));
  const candidates = sequenceCandidates(successors, callees, errorLines);
  if (candidates.length === 0) return [];
  await storeCandidates(session, candidates);
  await session.run(HITS_SQL);
  const firsts = new Map((await session.rows<FirstRow>(FIRST_SQL)).map((row) => [row.candidate, row]));
  return candidates
    .flatMap((candidate) => findingOf(candidate, firsts.get(candidate.id), byTrace))
    .filter((finding) => finding.score > 0 && (query.service === null || finding.service === query.service))
    .sort(mostTellingFirst);
}

/** Harm before a mere change of route, then by score; candidates keep their order where both are equal. */
function mostTellingFirst(a: SequenceFinding, b: SequenceFinding): number {
  return Number(a.kind === 'reroute') - Number(b.kind === 'reroute') || b.score - a.score;
}

function findingOf(candidate: SequenceCandidate, first: FirstRow | undefined, byTrace: boolean): SequenceFinding[] {
  if (first === undefined) return [];
  return [
    {
      service: candidate.blames,
      kind: candidate.kind,
      step: candidate.step,
      step_service: candidate.service,
      sample: first.sample,
      count: candidate.i,
      total: candidate.iTotal,
      share: candidate.i / candidate.iTotal,
      baseline_count: candidate.b,
      baseline_total: candidate.bTotal,
      baseline_share: candidate.b / candidate.bTotal,
      votes: byTrace ? first.votes : candidate.i,
      score: sequenceScore(candidate, byTrace ? first.first : candidate.i),
      first_ts: first.first_ts,
    },
  ];
}
