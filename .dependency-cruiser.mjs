/**
 * The dependency direction: which part of src/ may import which. CONTRIBUTING.md says the same in prose,
 * and test/tooling/dependency-direction.test.ts plants one violation of each rule to prove it is noticed.
 *
 * Type imports count like value imports: a part that knows another part's types can't be changed alone.
 */

/** Folder of src/ → the other folders of src/ it may import. A folder that isn't named here may import nothing. */
const MAY_IMPORT = {
  core: [],
  contract: ['core'],
  service: ['core'],
  store: ['core'],
  identity: ['core'],
  embedding: ['core'],
  tokenizer: ['core'],
  // It counts what providers tell of their calls.
  telemetry: ['core', 'embedding'],
  config: ['core'],
  eval: ['core', 'service'],
  client: ['contract', 'core'],
  adapters: ['client', 'contract', 'core', 'service'],
  library: ['contract', 'core', 'service'],
  http: ['contract', 'core', 'service'],
  mcp: ['client', 'contract', 'core', 'service'],
  cli: ['config', 'contract', 'core', 'eval', 'service'],
};

/** src/app.ts puts the parts together, src/testing hands out the contract suite: both may see every folder. */
const SEES_EVERY_FOLDER = '^src/(testing/|app(-mcp|-serve|-backup)?[.]ts$|index[.]ts$)';

const UNIT_TEST = '[.]test[.]ts$';

const folderRules = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `${folder}-imports-only-what-it-may`,
  comment: `src/${folder} may import ${allowed.length ? allowed.join(', ') : 'no other folder of src'}.`,
  severity: 'error',
  from: { path: `^src/${folder}/` },
  // app.ts and index.ts have rules of their own, so that one mistake is told once.
  to: {
    path: '^src/',
    pathNot: [
      `^src/(${[folder, ...allowed].join('|')})/`,
      '^src/(app|app-mcp|app-serve|app-backup|index)[.]ts$',
    ],
  },
}));

export default {
  forbidden: [
    ...folderRules,
    {
      name: 'every-folder-has-a-place',
      comment: 'A new folder of src/ is added to MAY_IMPORT first, with what it may import.',
      severity: 'error',
      from: { path: '^src/', pathNot: [`^src/(${Object.keys(MAY_IMPORT).join('|')})/`, SEES_EVERY_FOLDER] },
      to: {},
    },
    {
      name: 'core-imports-no-package',
      comment: 'src/core is pure: no package and no node: module, so that it runs and is tested anywhere.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: UNIT_TEST },
      to: { pathNot: '^src/' },
    },
    {
      name: 'only-entry-points-import-app',
      comment: 'src/app.ts knows every part; whoever imports it would know every part too.',
      severity: 'error',
      from: {
        path: '^(src|console)/',
        pathNot: '^src/(index[.]ts|app-(mcp|serve|backup)[.]ts|cli/main[.]ts|testing/.*)$',
      },
      to: { path: '^src/app(-mcp|-serve|-backup)?[.]ts$' },
    },
    {
      name: 'no-index-from-inside',
      comment: 'src/index.ts is for users of the package; inside, import the file that has the thing.',
      severity: 'error',
      from: { path: '^(src|console)/' },
      to: { path: '^src/index[.]ts$' },
    },
    {
      name: 'no-import-cycle',
      comment: 'Two files that import each other are one file in two pieces.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'source-imports-source-only',
      comment: 'What is shipped can not rest on tests, scripts, benchmarks or the console.',
      severity: 'error',
      from: { path: '^src/', pathNot: UNIT_TEST },
      to: { path: '^(test|scripts|bench|examples|eval|console)/' },
    },
    {
      name: 'no-development-package-in-source',
      comment: 'A user of the package does not get its development dependencies.',
      severity: 'error',
      from: { path: '^src/', pathNot: UNIT_TEST },
      // A framework that users bring along, a peer, is here for development too.
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['npm-peer'] },
    },
    {
      name: 'frameworks-belong-to-adapters',
      comment: 'Agent frameworks are optional: who uses another part of the package need not have them.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/adapters/', UNIT_TEST] },
      to: { path: 'node_modules/(ai|@ai-sdk|@langchain|@mastra|@openai)/' },
    },
    {
      name: 'imports-resolve',
      comment: 'The file or package that is imported exists.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'console-speaks-http',
      comment:
        'The console takes its data over HTTP; from src/ it may take the types of the contract, nothing that runs.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^src/', pathNot: '^src/contract/' },
    },
    {
      name: 'console-takes-contract-types-only',
      comment:
        'The console takes its data over HTTP; from src/ it may take the types of the contract, nothing that runs.',
      severity: 'error',
      from: { path: '^console/' },
      to: { path: '^src/contract/', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    // TypeScript 7 has no JavaScript API yet, so the imports are read by swc.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
