import { NODE_CONTRACTS, FALLBACK_MATERIAL } from '../blueprint/node-contracts';
import {
  LONGEST_PATH,
  MAX_EVIDENCE_RETRIES,
  MAX_TECHNICAL_ATTEMPTS,
  RECURSION_LIMIT,
  ROUTING_TABLE,
} from '../blueprint/routing-table';
import { STATE_FIELDS } from '../blueprint/state-fields';
import { DiagnosisError } from '../errors/diagnosis-error';
import { GraphNode, type AnyGraphNode, type NodeResult } from '../ports/graph-node.port';
import { NODE_NAMES, type NodeName } from '../vocabulary/node-names';
import { compileDiagnosisGraph } from './diagnosis-graph';

/** Stands for a node in a drawing; it refuses to run. */
class DrawnNode<N extends NodeName> extends GraphNode<N> {
  constructor(override readonly name: N) {
    super();
  }

  override run(): Promise<NodeResult<N>> {
    throw new DiagnosisError('INTERNAL', 'A drawn node does not run.');
  }
}

const code = (words: readonly string[]): string => (words.length === 0 ? '-' : words.map((word) => `\`${word}\``).join(', '));

/** A Markdown table with padded columns, as the formatter of this repository writes it. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

async function topologyPicture(): Promise<string> {
  const nodes = NODE_NAMES.map((name) => new DrawnNode(name) as AnyGraphNode);
  const drawing = await compileDiagnosisGraph(nodes).getGraphAsync();
  const names: readonly string[] = NODE_NAMES;
  const lines = drawing.drawMermaid().trim().split('\n');
  // The engine draws a loop inside a subgraph named like its own node, which Mermaid refuses as a cycle of parents.
  return lines.filter((line) => line.trim() !== 'end' && !names.includes(/^\s*subgraph (\w+)$/.exec(line)?.[1] ?? '')).join('\n');
}

/**
 * The text of `openspec/blueprint.md`: fields, contracts and routes from their tables, the picture from the compiled
 * graph. It refuses to say anything that is not derived; no network is needed.
 */
export async function blueprintDocument(): Promise<string> {
  const fields = Object.entries(STATE_FIELDS).map(([field, rule]) => [
    `\`${field}\``,
    rule.owner,
    rule.scope,
    rule.strategy,
    rule.purpose,
  ]);
  const contracts = NODE_NAMES.map((name) => {
    const contract = NODE_CONTRACTS[name];
    const thrown = Object.entries(contract.on_throw).map(([field, status]) => `${field} = ${status}`);
    return [name, code(contract.reads), code(contract.writes), code(thrown)];
  });
  const routes = NODE_NAMES.flatMap((name) =>
    Object.entries(ROUTING_TABLE[name]).map(([outcome, next]) => [name, `\`${outcome}\``, next]),
  );
  const material = Object.entries(FALLBACK_MATERIAL).map(([name, extra]) => [`\`${name}\``, code(extra)]);
  return `${[
    '# Blueprint of the diagnosis graph',
    'Generated from `src/blueprint/` and the compiled graph by `npm run blueprint`; a test fails when it is stale. Do not edit.',
    '## Picture',
    `\`\`\`mermaid\n${await topologyPicture()}\n\`\`\``,
    '## Limits',
    table(
      ['limit', 'value'],
      [
        ['attempts of planner, verifier and composer in one round', String(MAX_TECHNICAL_ATTEMPTS)],
        ['evidence rounds beyond the first', String(MAX_EVIDENCE_RETRIES)],
        ['node runs of the longest path', String(LONGEST_PATH)],
        ['recursion limit of the engine', String(RECURSION_LIMIT)],
      ],
    ),
    '## State fields',
    table(['field', 'owner', 'scope', 'strategy', 'purpose'], fields),
    '## Node contracts',
    table(['node', 'reads', 'writes', 'on throw'], contracts),
    'What the fallback may read beyond its contract, by the class it is entered with:',
    table(['class', 'further reads'], material),
    '## Routes',
    table(['node', 'outcome', 'next'], routes),
  ].join('\n\n')}\n`;
}
