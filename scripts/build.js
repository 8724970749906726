// Compiles to dist/ and bundles the workflows, so that workers start without a bundler, and the programs that start once
// for each session or call, so that they load one file in place of a hundred. Runs on the system's Node, because `npm ci`
// calls it.
const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} = require('node:fs');
const { dirname, join, relative } = require('node:path');
const { brotliCompressSync, gzipSync } = require('node:zlib');

const root = join(__dirname, '..');
const workflows = join(root, 'dist', 'workflows', 'index.js');
const seals = join(root, 'dist', 'workflows', 'messages', 'sealed-messages.js');
const traced = join(root, 'dist', 'workflows', 'messages', 'traced.js');
const early = join(root, 'dist', 'workflows', 'messages', 'early-events.js');
/** The second is for encrypted payloads: the workflow makes failures and checks seals. */
const BUNDLES = [
  {
    name: 'workflow-bundle.js',
    options: { workflowInterceptorModules: [early, traced], preloadModules: [workflows, early, traced] },
  },
  {
    name: 'workflow-bundle-encoding.js',
    options: {
      failureConverterPath: join(root, 'dist', 'encryption', 'failure-converter.js'),
      workflowInterceptorModules: [early, seals, traced],
      preloadModules: [workflows, early, seals, traced],
    },
  },
];

execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', join(root, 'tsconfig.json')], {
  stdio: 'inherit',
});

/** Of the package only the compiled grammar is used: users need not build its native parser. */
const grammar = dirname(require.resolve('tree-sitter-bash/package.json'));
copyFileSync(
  join(grammar, 'tree-sitter-bash.wasm'),
  join(root, 'dist', 'checks', 'bash', 'tree-sitter-bash.wasm'),
);
copyFileSync(join(grammar, 'LICENSE'), join(root, 'dist', 'checks', 'bash', 'tree-sitter-bash.LICENSE'));

/** The examples import `holdfast` by its name, as users' code does. They are a package, and no other finds itself. */
const modules = join(root, 'examples', 'node_modules');
mkdirSync(modules, { recursive: true });
rmSync(join(modules, 'holdfast'), { force: true });
symlinkSync(join('..', '..'), join(modules, 'holdfast'));
rmSync(join(root, 'dist', 'examples'), { recursive: true, force: true });

/** The inputs of the bundles: the compiled workflows and contracts, the SDK's version and this script. */
function sourcesHash() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  hash.update(readFileSync(__filename)).update(readFileSync(join(__dirname, 'seal-exports.js')));
  for (const folder of ['contracts', 'workflows', 'encryption']) {
    for (const name of readdirSync(join(root, 'dist', folder), { recursive: true }).sort()) {
      if (String(name).endsWith('.js'))
        hash.update(`${name}\n`).update(readFileSync(join(root, 'dist', folder, String(name))));
    }
  }
  return hash.digest('hex');
}

/** Of zod, but used by none of ours: its CommonJS index loads the messages of all languages, half of its size. */
const LEFT_OUT = [join(root, 'node_modules', 'zod', 'v4/locales/index.cjs')];

const SCHEMAS = {
  test: (path) => path.startsWith(join(root, 'dist', 'contracts', 'schemas')),
  use: [{ loader: join(__dirname, 'seal-exports.js') }],
};

async function bundle({ name, options }, hash) {
  const bundleFile = join(root, 'dist', name);
  const stampFile = `${bundleFile}.sources`;
  if (existsSync(bundleFile) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return;
  const { bundleWorkflowCode } = require('@temporalio/worker');
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
  const { code } = await bundleWorkflowCode({
    // The preloaded modules are evaluated once per worker, not per workflow, and frozen: they keep no state.
    ...options,
    workflowsPath: workflows,
    logger: quiet,
    webpackConfigHook: (config) => ({
      ...config,
      // Lines are enough for a stack trace. Columns would double what every start reads and parses twice, and sources too.
      devtool: 'inline-nosources-cheap-source-map',
      module: { ...config.module, rules: [...(config.module?.rules ?? []), SCHEMAS] },
      resolve: {
        ...config.resolve,
        alias: { ...config.resolve?.alias, ...Object.fromEntries(LEFT_OUT.map((path) => [path, false])) },
      },
    }),
  });
  writeFileSync(bundleFile, code);
  writeFileSync(stampFile, hash);
}

async function bundles() {
  const hash = sourcesHash();
  for (const one of BUNDLES) await bundle(one, hash);
}

/** Each is one file, which holds also what it may not need: that is evaluated only if it does. */
const PROGRAMS = [
  { name: 'holder.js', entry: 'exec/holder/main.js' },
  { name: 'confined.js', entry: 'tools/confined/main.js' },
];

async function program({ name, entry }) {
  const { build } = await import('rolldown');
  await build({
    input: join(root, 'dist', entry),
    platform: 'node',
    // It finds its addon by its own path.
    external: ['node-pty'],
    logLevel: 'warn',
    plugins: [{ name: 'left-out', load: (id) => (LEFT_OUT.includes(id) ? 'module.exports = {};' : null) }],
    output: { file: join(root, 'dist', name), format: 'cjs', codeSplitting: false },
  });
}

/** The page of `holdfast serve`, unless its sources are those of the last time. */
async function page() {
  const folder = join(root, 'console');
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  hash.update(readFileSync(__filename));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.sort()) hash.update(`${relative(folder, file)}\n`).update(readFileSync(file));
  const digest = hash.digest('hex');
  const stampFile = join(root, 'dist', 'console.sources');
  const isBuilt = existsSync(join(root, 'dist', 'console', 'index.html')) && existsSync(stampFile);
  if (isBuilt && readFileSync(stampFile, 'utf8') === digest) return;
  const { build } = await import('vite');
  await build({ configFile: join(folder, 'vite.config.mjs') });
  compressPage(join(root, 'dist', 'console'));
  writeFileSync(stampFile, digest);
}

/** Once here, with the best that each can do, and not for each request. Files that gain nothing have no other form. */
function compressPage(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(html|js|css|svg|wasm)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  for (const file of files) {
    const content = readFileSync(file);
    const forms = { br: brotliCompressSync(content), gz: gzipSync(content, { level: 9 }) };
    for (const [end, form] of Object.entries(forms))
      if (form.length < content.length) writeFileSync(`${file}.${end}`, form);
  }
}

Promise.all([bundles(), ...PROGRAMS.map(program), page()]).catch((err) => {
  console.error(err);
  process.exit(1);
});
