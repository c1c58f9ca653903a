import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROUTING_TABLE } from '../../src/blueprint/routing-table';
import { STATE_FIELDS } from '../../src/blueprint/state-fields';
import { blueprintDocument } from '../../src/graph/blueprint-document';

describe('Blueprint document', () => {
  it('[A5] openspec/blueprint.md is what `npm run blueprint` writes', async () => {
    expect(readFileSync(join(__dirname, '../../openspec/blueprint.md'), 'utf8')).toBe(await blueprintDocument());
  });

  it('[A2] [A5] holds every field and, in the picture, every route', async () => {
    const text = await blueprintDocument();
    for (const field of Object.keys(STATE_FIELDS)) expect(text).toContain(`| \`${field}\``);
    for (const [node, routes] of Object.entries(ROUTING_TABLE)) {
      for (const [outcome, next] of Object.entries(routes)) {
        expect(text).toContain(`${node} -. &nbsp;${outcome}&nbsp; .-> ${next === 'end' ? '__end__' : next};`);
      }
    }
  });
});
