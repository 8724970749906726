// Compiles to dist/ and bundles the workflows, so that workers start without a bundler. Runs on the system's
// Node, because `npm ci` calls it.
const { execFileSync } = require('node:child_process');
const { createHash } = require('node:crypto');
const { existsSync, readFileSync, readdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

const root = join(__dirname, '..');
/** The second is for payloads that are encrypted: failures are made in the workflow, and seals looked at. */
const BUNDLES = [
  { name: 'workflow-bundle.js', options: {} },
  {
    name: 'workflow-bundle-encoding.js',
    options: {
      failureConverterPath: join(root, 'dist', 'encryption', 'failure-converter.js'),
      workflowInterceptorModules: [join(root, 'dist', 'workflows', 'sealed-messages.js')],
    },
  },
];

execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', join(root, 'tsconfig.json')], {
  stdio: 'inherit',
});

/** What makes the bundles: the compiled workflows and contracts, the SDK's version and this script. */
function sourcesHash() {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  hash.update(readFileSync(__filename));
  for (const folder of ['contracts', 'workflows', 'encryption']) {
    for (const name of readdirSync(join(root, 'dist', folder), { recursive: true }).sort()) {
      if (String(name).endsWith('.js'))
        hash.update(`${name}\n`).update(readFileSync(join(root, 'dist', folder, String(name))));
    }
  }
  return hash.digest('hex');
}

/** Parts of zod that nothing in a workflow uses, but that its CommonJS index pulls in: half of its size. */
const WITHOUT = Object.fromEntries(
  ['v4/locales/index.cjs'].map((path) => [join(root, 'node_modules', 'zod', path), false]),
);

async function bundle({ name, options }, hash) {
  const bundleFile = join(root, 'dist', name);
  const stampFile = `${bundleFile}.sources`;
  if (existsSync(bundleFile) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return;
  const { bundleWorkflowCode } = require('@temporalio/worker');
  const quiet = { log() {}, trace() {}, debug() {}, info() {}, warn: console.warn, error: console.error };
  const { code } = await bundleWorkflowCode({
    ...options,
    workflowsPath: join(root, 'dist', 'workflows', 'index.js'),
    // Evaluated once for a worker and not for each workflow: zod keeps no state, and is frozen after that.
    preloadModules: [join(root, 'dist', 'contracts', 'schemas', 'zod.js')],
    logger: quiet,
    webpackConfigHook: (config) => ({
      ...config,
      // Positions are enough for a stack trace; the sources twice over would be read and parsed at each start.
      devtool: 'inline-nosources-source-map',
      resolve: { ...config.resolve, alias: { ...config.resolve?.alias, ...WITHOUT } },
    }),
  });
  writeFileSync(bundleFile, code);
  writeFileSync(stampFile, hash);
}

async function bundles() {
  const hash = sourcesHash();
  for (const one of BUNDLES) await bundle(one, hash);
}

bundles().catch((err) => {
  console.error(err);
  process.exit(1);
});
