/**
 * Walks one part of the outcome sequences in a process of its own: `node walk-part.cjs <part> <of>`; prints the walk as JSON.
 * Jest's sandbox makes the engine more than twice as slow, which the walk of thousands of runs feels.
 */
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { transformSync } = require('@swc/core');

const manifest = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'));
const [, options] = manifest.jest.transform['^.+\\.ts$'];
require('reflect-metadata');
require.extensions['.ts'] = (module, filename) => {
  module._compile(transformSync(readFileSync(filename, 'utf8'), { ...options, filename, swcrc: false }).code, filename);
};

const { walkSequences } = require('./sequence-walk.ts');
const [part, of] = process.argv.slice(2).map(Number);
walkSequences(part, of).then((walk) => process.stdout.write(JSON.stringify(walk)));
