import { randomBytes } from 'node:crypto';
import { connectToServer } from './mariadb-server';

/**
 * Asks once, before all test files, whether the MariaDB for tests answers, and tells the files by the environment: a file has to
 * know it before its first test is named.
 */
async function setUpMariadb(): Promise<void> {
  const fault = await faultOfServer();
  process.env['DIAGNOSIS_TEST_RUN'] = randomBytes(4).toString('hex');
  process.env['DIAGNOSIS_TEST_MARIADB_FAULT'] = fault;
  if (fault === '') return;
  const consequence =
    process.env['DIAGNOSIS_TESTS_REQUIRED'] === '1'
      ? 'a failure'
      : 'left out; DIAGNOSIS_TESTS_REQUIRED=1 makes each of its suites a failure';
  process.stderr.write(`\n*** NO MARIADB FOR TESTS: ${fault}. Every test on MariaDB is ${consequence}. ***\n\n`);
}

async function faultOfServer(): Promise<string> {
  try {
    const connection = await connectToServer();
    await connection.query('SELECT 1');
    await connection.end();
    return '';
  } catch (error) {
    const { code, message } = error as { readonly code?: string; readonly message?: string };
    return `the server of DIAGNOSIS_TEST_MARIADB does not answer (${code === 'OPTIONS_INVALID' ? message : (code ?? message)})`;
  }
}

export = setUpMariadb;
