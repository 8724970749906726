// The folders are the execution contexts: who may import whom.
const only = (from, allowed) => ({
  name: `${from}-imports`,
  severity: 'error',
  from: { path: `^${from}/` },
  to: { pathNot: allowed.map((path) => `^${path}`), dependencyTypesNot: ['core'] },
});
const sdk = (name) => `node_modules/@temporalio/${name}`;

module.exports = {
  forbidden: [
    {
      // Of what is loaded. Types may refer to each other: a schema is the type of a request, whose parts have types too.
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      from: { pathNot: '^tests/' },
      to: { path: '^tests/' },
    },
    {
      name: 'only-tests-import-testing',
      severity: 'error',
      from: { pathNot: '^(testing|tests|examples|scripts)/' },
      to: { path: '^testing/' },
    },
    {
      name: 'contracts-are-pure',
      severity: 'error',
      from: { path: '^contracts/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      // zod writes to a schema at its first use, and what workflows load from elsewhere is frozen (scripts/build.js).
      name: 'schemas-are-in-one-folder',
      severity: 'error',
      from: { path: '^(contracts|workflows|encryption)/', pathNot: '^contracts/schemas/' },
      to: { path: '(^contracts/schemas/zod|^node_modules/zod/)', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-are-deterministic',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'workflows-reach-no-activity',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        path: '^(encryption|activities|system|exec|workspaces|engine|models|tools|checks|workers|client|cli)/',
        reachable: true,
      },
    },
    {
      name: 'exec-knows-no-temporal',
      severity: 'error',
      from: { path: '^exec/' },
      to: { path: 'node_modules/@temporalio/' },
    },
    {
      name: 'only-workers-and-cli-compose',
      severity: 'error',
      from: { pathNot: '^(workers|cli|gateway|testing|bench|examples|tests)/' },
      to: { path: '^(workers|cli|gateway)/' },
    },
    {
      name: 'holders-load-nothing-of-the-host',
      severity: 'error',
      from: { path: '^exec/(holder|sandbox|processes|output)/' },
      to: { path: '^exec/(host|client|attach)/', reachable: true },
    },
    only('contracts', ['contracts/', 'node_modules/zod/', sdk('common')]),
    only('system', ['system/', 'contracts/', 'node_modules/pino/']),
    only('encryption', ['encryption/', 'contracts/', 'system/', 'node_modules/protobufjs/', sdk('common')]),
    only('workflows', ['workflows/', 'contracts/', 'node_modules/zod/', sdk('workflow'), sdk('common')]),
    only('exec', ['exec/', 'contracts/', 'system/', 'node_modules/node-pty/', 'node_modules/@xterm/']),
    only('workspaces', ['workspaces/', 'contracts/', 'system/']),
    only('engine', ['engine/', 'contracts/', 'system/', sdk('testing')]),
    only('models', ['models/', 'contracts/', 'system/', 'node_modules/']),
    only('tools', [
      'tools/',
      'contracts/',
      'client/',
      'system/',
      'node_modules/zod/',
      'node_modules/(@types/)?picomatch/',
      'node_modules/ignore/',
      'node_modules/smol-toml/',
      'node_modules/yaml/',
      'node_modules/@modelcontextprotocol/',
      'node_modules/eventsource-parser/',
    ]),
    only('checks', ['checks/', 'contracts/', 'system/', 'node_modules/']),
    only('gateway', [
      'gateway/',
      'client/',
      'contracts/',
      'exec/(attach|client|output|protocol|session-paths|transfer)',
      'system/',
      'node_modules/(hono|@hono|jose|openid-client|ws|@types/ws)/',
      sdk('common'),
      'node_modules/zod/',
    ]),
    {
      // A screen on the page is drawn as the views of a session are, and what happened to files has the same words.
      name: 'the-page-knows-only-types-and-texts',
      severity: 'error',
      from: { path: '^console/' },
      to: {
        path: '^contracts/',
        pathNot:
          '^contracts/(?:text/(?:cell-widths|control-characters|well-formed)|workspaces/change-texts)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'only-the-build-knows-the-page',
      severity: 'error',
      from: { pathNot: '^(console|tests|scripts)/' },
      to: { path: '^console/' },
    },
    only('console', ['console/', 'contracts/', 'node_modules/']),
    only('client', ['client/', 'contracts/', 'node_modules/@temporalio/']),
    only('activities', [
      'activities/',
      'contracts/',
      'client/',
      'exec/',
      'workspaces/',
      'system/',
      'models/',
      'checks/',
      'tools/',
      'node_modules/@temporalio/',
      'node_modules/@aws-sdk/client-s3/',
      'node_modules/yaml/',
    ]),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage|node_modules/.cache)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    // As Node resolves it: the MCP SDK is a package of entry points.
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['require', 'node', 'default'] },
  },
};
