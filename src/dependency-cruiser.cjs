/** The floors of the house, bottom up. A folder imports only from lower floors, never from a neighbour. */
const FLOORS = [
  ['errors'],
  ['vocabulary'],
  ['options'],
  ['protocol'],
  ['blueprint'],
  ['ports'],
  ['gatekeeper', 'telemetry', 'runs'],
  ['tools', 'nodes', 'evaluation'],
  ['agents'],
  ['graph'],
  ['chat'],
  ['http'],
];

const floorRules = FLOORS.flatMap((folders, floor) =>
  folders.map((folder) => {
    const allowed = [folder, ...FLOORS.slice(0, floor).flat()];
    return {
      name: `floor-${folder}`,
      comment: `${folder}/ imports only from lower floors, type-only imports included.`,
      severity: 'error',
      from: { path: `^src/${folder}/` },
      to: { path: '^src/', pathNot: `^src/(${allowed.join('|')})/` },
    };
  }),
);

/** A package that only some places may import. */
const only = (name, packages, places) => ({
  name: `only-${name}`,
  comment: `${name} stays in its room.`,
  severity: 'error',
  from: { path: '^(src|migrations)/', pathNot: places },
  to: { path: packages },
});

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...floorRules,
    {
      name: 'agents-apart',
      comment: 'The analyst and the react agents do not know each other.',
      severity: 'error',
      from: { path: '^src/agents/([^/]+)/' },
      to: { path: '^src/agents/', pathNot: '^src/agents/$1/' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-barrel',
      comment: 'index.ts is for library users only.',
      severity: 'error',
      from: {},
      to: { path: '^src/index\\.ts$' },
    },
    { name: 'no-root-from-floors', severity: 'error', from: { path: '^src/[^/]+/' }, to: { path: '^src/[^/]+\\.ts$' } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    only('langgraph', 'node_modules/@langchain/langgraph', '^src/graph/'),
    only('langchain', 'node_modules/langchain/', '^src/agents/react/'),
    {
      name: 'langchain-core-type-only',
      comment: 'Outside agents/react LangChain is there for the RunnableConfig type alone.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/agents/react/' },
      to: { path: 'node_modules/@langchain/core', dependencyTypesNot: ['type-only'] },
    },
    only('typeorm', 'node_modules/(@nestjs/)?typeorm/', '^(src/runs/|migrations/|src/[^/]+\\.module\\.ts$)'),
    only('swagger-and-validator', 'node_modules/(@nestjs/swagger|class-validator|class-transformer)/', '^src/(http/|main\\.ts$)'),
    only('duckdb', 'node_modules/@duckdb/', '^src/telemetry/'),
    {
      name: 'migrations-alone',
      comment: 'A migration stands on TypeORM alone, so that later code cannot change its meaning.',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { path: '^src/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default', 'types'] },
  },
};
