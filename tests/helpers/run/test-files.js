// Which test files are in which run: `npm test` has what counts most, in less than eight minutes on two cores, and
// `npm run test:rest` the others; .ci/run runs both. `npm run test:long` repeats those with larger counts.
// See docs/decisions/0020-tests-embedding-and-layout.md.
const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

/** Of `npm test`: all files of these folders. */
const FOLDERS = [
  'unit',
  'docs',
  'conformance',
  'replay',
  'simulation',
  'integration/exec/shell',
  'integration/exec/waiting',
];

/** But not these, which start dozens of programs or take long. */
const LEFT_OUT = [
  'docs/tools',
  'docs/upgrading',
  'simulation/planted-faults',
  'unit/checks/code-checks',
  'unit/tools/files/grep-files-tool',
  'unit/tools/stubs/stubs-hostile',
  'unit/tools/stubs/stubs-node',
  'unit/tools/stubs/stubs-python-parallel',
];

/** For each part of docs/guarantees.md, and for each interface. */
const FILES = [
  // Crashes
  'fault/kills',
  'fault/crash-points',
  'fault/closed-before-begun',
  'fault/schedules/check-history',
  'integration/exec/holder/survival',
  'integration/exec/holder/holder-requests',
  'integration/exec/holder/one-holder',
  'integration/workers/folder-claims',
  // Commands and output
  'integration/sessions/session-workflow',
  'integration/sessions/unified-exec',
  'integration/exec/output/output-bytes',
  'integration/exec/output/changed-log',
  'integration/exec/output/retention',
  'integration/exec/output/storage-failures',
  'integration/exec/output/views',
  // Files
  'integration/workspaces/rewind',
  // Agents and models
  'integration/agents/agent',
  'integration/agents/conversation',
  'integration/agents/sub-agents',
  'integration/agents/wait',
  'integration/agents/seed-example',
  'integration/models/providers',
  'integration/models/odd-answers',
  // Tools
  'integration/tools/tool-calls',
  'integration/tools/tool-promises',
  'integration/mcp/http',
  // Security
  'integration/exec/sandbox/escape',
  'integration/exec/sandbox/sandbox-required',
  'integration/approvals/secrets',
  // What people and programs use
  'integration/cli/ps',
  'integration/cli/cli-start',
  'integration/cli/check-command',
  'integration/gateway/api',
  'integration/gateway/log-in/access',
  'integration/gateway/terminals',
  'integration/page/page-list',
  'integration/hosts/enrolled-host',
  'integration/testing/time-skipping',
  'integration/docs/messages',
];

/** All paths in this folder of tests/. */
function testFiles(rootDir, folder = '') {
  const path = join(rootDir, 'tests', folder);
  return readdirSync(path, { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(path, name));
}

function fileOf(rootDir, name) {
  const file = join(rootDir, 'tests', `${name}.test.ts`);
  if (!existsSync(file))
    throw new Error(`tests/helpers/run/test-files.js names ${name}, which is no test file`);
  return file;
}

/** Throws for a name of the lists that is no file. */
function coreFiles(rootDir) {
  const leftOut = LEFT_OUT.map((name) => fileOf(rootDir, name));
  return [
    ...FOLDERS.flatMap((folder) => testFiles(rootDir, folder)).filter((file) => !leftOut.includes(file)),
    ...FILES.map((name) => fileOf(rootDir, name)),
  ];
}

function restFiles(rootDir) {
  const core = coreFiles(rootDir);
  const isOfPackage = (file) => file.startsWith(join(rootDir, 'tests', 'package'));
  return testFiles(rootDir).filter((file) => !core.includes(file) && !isOfPackage(file));
}

/** Those that use long-run.ts. */
const longRunFiles = (rootDir) =>
  testFiles(rootDir).filter((file) => /helpers\/run\/long-run'/.test(readFileSync(file, 'utf8')));

module.exports = { coreFiles, restFiles, longRunFiles };
