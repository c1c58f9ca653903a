import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IsNull } from 'typeorm';
import { parseDiagnosisOptions } from '../../src/options/diagnosis-options';
import { DiagnosisRun } from '../../src/runs/diagnosis-run.entity';
import { openDiagnosisDataSource } from '../../src/runs/diagnosis-data-source';
import { RunRepository } from '../../src/runs/run.repository';
import { TraceRepository } from '../../src/runs/trace.repository';
import { packOutput } from '../../src/runs/output-bytes';
import { freshFile, type FreshDatabase } from '../runs/test-databases';

const QUESTION = `Why is 🛒 slow? ${'é'.repeat(300)}`;
const ANSWER = 'It was the pool. ü';
const OUTPUT = '{"matched_count":1}';
const TRACE = {
  path: ['planner'],
  events: [],
  technical_retries: 2,
  evidence_retries: 1,
  gatekeeper_status: null,
  verdict_ceiling: null,
  effective_verdict: null,
  fallback_class: 'PRE',
  fallback_reason: 'RUN_DEADLINE',
  degraded: true,
};

/** More runs than are completed at once. */
const MANY = 620;

async function oldFile(database: FreshDatabase): Promise<void> {
  const file = new Database(database.url.slice('sqlite:'.length));
  file.exec(readFileSync(join(__dirname, 'first-release.sql'), 'utf8'));
  file.exec(`INSERT INTO diagnosis_chat_session VALUES ('s', '2026-01-02 03:04:05.006')`);
  const run = file.prepare(
    `INSERT INTO diagnosis_run (id, session_id, status, agent_flow, verdict, degraded, lease_until, created_at, started_at, finished_at,
       message, answer, trace) VALUES (?, 's', ?, 'DIAGNOSIS_GRAPH', ?, ?, '2026-01-02 03:05:00.000', ?, ?, ?, ?, ?, ?)`,
  );
  const text = (body: string): string => JSON.stringify({ text: body });
  const [created, started, ended] = ['2026-01-02 03:04:05.006', '2026-01-02 03:04:05.100', '2026-01-02 03:04:07.350'];
  run.run('r-answered', 'SUCCESS', 'PASS', 1, created, started, ended, text(QUESTION), text(ANSWER), JSON.stringify(TRACE));
  run.run('r-waiting', 'PENDING', null, 0, created, null, null, text(''), null, null);
  run.run('r-late', 'FAILED', null, 0, created, '2025-01-02 03:04:05.100', ended, text('x'), null, null);
  for (let i = 0; i < MANY; i += 1) {
    run.run(`z-${String(i).padStart(4, '0')}`, 'FAILED', null, 0, created, started, ended, text(`question ${i}`), null, null);
  }
  const { sha256, bytes, chunks } = await packOutput(OUTPUT, 1_000);
  const call = file.prepare(
    `INSERT INTO diagnosis_tool_invocation VALUES (?, 'r-answered', ?, ?, 0, 1, 'log_patterns', '{}', ?, ?, ?, NULL, ?, 3)`,
  );
  call.run('call-1', 't1-aaaa', 'k1', 'OK', sha256, bytes, started);
  call.run('call-2', 't2-aaaa', 'k2', 'DENIED', null, null, started);
  for (const [seq, chunk] of chunks.entries()) {
    file.prepare(`INSERT INTO diagnosis_tool_output_chunk VALUES ('call-1', ?, ?)`).run(seq, chunk);
  }
  file.exec(
    `INSERT INTO diagnosis_run_evidence VALUES ('r-answered', '{"claims":[],"evidence":[],"empty_reason":"x"}', '${ended}')`,
  );
  file.exec(
    `INSERT INTO diagnosis_run_evaluation VALUES ('e1', 'r-answered', 'expected_label', 0.25, '{"hit":true}', '${ended}')`,
  );
  file.exec(
    `INSERT INTO diagnosis_agent_step VALUES ('st', 'r-answered', 'planner', 0, 1, 'COMPLETED', 'OK', '${started}', 4, 1, 2, NULL, 0)`,
  );
  file.close();
}

describe('an SQLite file of the first release', () => {
  it('is completed by the later migrations, loses no row and has no drift', async () => {
    const database = await freshFile();
    await oldFile(database);
    const options = parseDiagnosisOptions({ database: { url: database.url } });
    const dataSource = await openDiagnosisDataSource(options);
    try {
      const find = (id: string) => dataSource.manager.findOneByOrFail(DiagnosisRun, { id });
      const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
      expect(await find('r-answered')).toMatchObject({
        title: QUESTION.slice(0, 200),
        message_sha256: sha256(QUESTION),
        message_bytes: Buffer.byteLength(QUESTION),
        answer_sha256: sha256(ANSWER),
        answer_bytes: Buffer.byteLength(ANSWER),
        duration_ms: 2_250,
        fallback_class: 'PRE',
        fallback_reason: 'RUN_DEADLINE',
        retries: 3,
        tool_failed: true,
        keeps_content: true,
        erase_requested_at: null,
        created_at: new Date('2026-01-02T03:04:05.006Z'),
      });
      expect(await find('r-waiting')).toMatchObject({
        title: '',
        message_bytes: 0,
        answer_sha256: null,
        answer_bytes: null,
        duration_ms: null,
        fallback_class: null,
        retries: 0,
        tool_failed: false,
      });
      expect((await find('r-late')).duration_ms).toBe(2 ** 31 - 1);
      const incomplete = await dataSource.manager.countBy(DiagnosisRun, { message_sha256: IsNull() });
      const last = await find(`z-${String(MANY - 1).padStart(4, '0')}`);
      expect([incomplete, last.title, last.message_sha256]).toEqual([0, `question ${MANY - 1}`, sha256(`question ${MANY - 1}`)]);
      expect(await dataSource.manager.count(DiagnosisRun)).toBe(MANY + 3);
      expect(await new TraceRepository(dataSource, options).readOutput('call-1')).toBe(OUTPUT);
      expect(await new RunRepository(dataSource, options).findEvidence('r-answered')).toMatchObject({ empty_reason: 'x' });
      for (const table of ['agent_step', 'run_evaluation', 'chat_session']) {
        expect([table, await dataSource.query(`SELECT count(*) AS n FROM diagnosis_${table}`)]).toEqual([table, [{ n: 1 }]]);
      }
      expect(await dataSource.query('PRAGMA foreign_key_check')).toEqual([]);
      expect((await dataSource.driver.createSchemaBuilder().log()).upQueries).toEqual([]);
    } finally {
      await dataSource.destroy();
      await database.drop();
    }
  });
});
