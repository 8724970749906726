// What users get: the packed package, installed outside of the checkout, runs on each Node that it says it runs on.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageRoot } from '../../system/package-root';
import { README_FILE, README_OUTPUT, readmeProgram } from '../helpers/docs/readme-program';
import {
  InstalledPackage,
  oldNode,
  type NodeVersion,
  type ProjectType,
} from '../helpers/releases/installed-package';

const installed = new InstalledPackage();
beforeAll(() => installed.install(), 600_000);
afterAll(async () => {
  expect(await installed.remove()).toEqual([]);
}, 60_000);

const manifest = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as {
  version: string;
  bin: Record<string, string>;
  exports: Record<string, string | { types: string; default: string }>;
};
const ENTRIES = Object.entries(manifest.exports).flatMap(([name, paths]) =>
  typeof paths === 'string' ? [] : [{ specifier: `holdfast${name.slice(1)}`, ...paths }],
);
/** The projects, and the Node that each was installed by. */
const PROJECTS: [ProjectType, NodeVersion][] = [
  ['module', 22],
  ['commonjs', 24],
];
/** Each project on each Node. */
const ALL = PROJECTS.flatMap(([type]) => ([22, 24] as const).map((version) => [type, version] as const));

describe('the tarball', () => {
  test('holds no test, nothing that was made for tests, and no source map', () => {
    const strays =
      /(^|\/)(tests?|bench|coverage|node_modules|\.holdfast)\/|\.test\.|\.map$|\.tsbuildinfo$|dist\/doc-/;
    expect(installed.files.filter((path) => strays.test(path))).toEqual([]);
  });

  test('holds the licence, the docs, and every file that package.json names', () => {
    const named = [
      ...Object.values(manifest.bin),
      ...ENTRIES.flatMap((entry) => [entry.types, entry.default]),
    ].map((path) => path.replace(/^\.\//, ''));
    expect(installed.files).toEqual(
      expect.arrayContaining(['LICENSE', 'README.md', 'CHANGELOG.md', 'docs/tools.md', ...named]),
    );
  });

  test('holds every file that its own modules load', () => {
    const files = new Set(installed.files);
    const missing = [...files]
      .filter((path) => path.endsWith('.js'))
      .flatMap((path) => {
        const source = readFileSync(join(packageRoot(), path), 'utf8');
        // Bundles hold their modules.
        const loads = path.includes('workflow-bundle')
          ? []
          : source.matchAll(/\brequire\(['"](\.[^'"]*)['"]\)/g);
        return [...loads]
          .map(([, to = '']) => join(dirname(path), to))
          .filter((to) => ![to, `${to}.js`, join(to, 'index.js')].some((candidate) => files.has(candidate)))
          .map((to) => `${path}: ${to}`);
      });
    expect(missing).toEqual([]);
  });
});

describe('npm install', () => {
  test.each(PROJECTS)('of a project of type %s says nothing of engines on Node %i', (type) => {
    expect(installed.said[type]).not.toContain('EBADENGINE');
  });
});

describe('what the package exports', () => {
  const specifiers = ENTRIES.map(({ specifier }) => specifier);

  test.each(ALL)(
    'loads by import and require in a project of type %s on Node %i, without a warning',
    async (type, version) => {
      const importing = `for (const name of ${JSON.stringify(specifiers)}) {
        const all = await import(name);
        if (Object.keys(all).length === 0) throw new Error(name + ' exports nothing');
      }
      console.log('loaded');`;
      const code = type === 'module' ? importing : `(async () => { ${importing} })();`;
      const byRequire = `import { createRequire } from 'node:module';
      const require = createRequire(process.cwd() + '/x.js');`;
      const requiring = `for (const name of ${JSON.stringify(specifiers)}) require(name); console.log('loaded');`;
      const loaded = { code: 0, stdout: 'loaded\n', stderr: '' };
      expect(await installed.script(type, version, code)).toEqual(loaded);
      const required = type === 'module' ? byRequire + requiring : requiring;
      expect(await installed.script(type, version, required)).toEqual(loaded);
    },
    60_000,
  );

  /** Node finds them in the text of a CommonJS package. */
  test.each([22, 24] as const)(
    'has names to import on Node %i',
    async (version) => {
      const code = `import { HoldfastClient, HoldfastError } from 'holdfast';
      import { defineTool } from 'holdfast/tools';
      import { createWorkers } from 'holdfast/workers';
      import { executeAgent } from 'holdfast/workflows';
      import { HoldfastTestEnvironment } from 'holdfast/testing';
      console.log([HoldfastClient, HoldfastError, defineTool, createWorkers, executeAgent,
        HoldfastTestEnvironment].map((each) => typeof each).join());`;
      const { stdout } = await installed.script('module', version, code);
      expect(stdout).toBe('function,function,function,function,function,function\n');
    },
    60_000,
  );
});

describe('the types', () => {
  const OPTIONS = {
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023'],
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
  };
  /** Of a file of another package. Lines that are indented go on with the error above. */
  const OTHERS = /^node_modules\/(?!holdfast\/)/;

  async function errorsOf(type: ProjectType, options: object, include: string[]): Promise<string[]> {
    const cwd = installed.project(type);
    const compilerOptions = { ...OPTIONS, ...options };
    writeFileSync(join(cwd, 'tsconfig.json'), JSON.stringify({ compilerOptions, include }));
    const { code, stdout, stderr } = await installed.run(
      'node',
      ['node_modules/typescript/bin/tsc', '-p', '.', '--pretty', 'false'],
      { cwd, version: 24 },
    );
    expect({ code, stderr }).toEqual({ code: stdout ? 2 : 0, stderr: '' });
    return stdout.split('\n').filter((line) => line !== '' && !line.startsWith(' ') && !OTHERS.test(line));
  }

  const all = ENTRIES.map(({ specifier }, index) => `import * as m${index} from '${specifier}';`);
  const uses = `
    import { HoldfastClient } from 'holdfast';
    export const answer = async (): Promise<string | null> => {
      const client = await HoldfastClient.connect();
      const { answer } = await client.agent('a').result();
      return answer;
    };
    export const all = [${ENTRIES.map((_, index) => `m${index}`).join()}];`;

  const examples = { allowImportingTsExtensions: true, erasableSyntaxOnly: true };
  const errorsIn = (type: ProjectType): Promise<string[]> => {
    writeFileSync(join(installed.project(type), 'uses.ts'), all.join('\n') + uses);
    copyExamples(type);
    return errorsOf(type, examples, ['uses.ts', 'examples']);
  };

  test('are whole in projects of both types: strict, NodeNext, libraries checked, and so are the examples', async () => {
    expect(await Promise.all([errorsIn('module'), errorsIn('commonjs')])).toEqual([[], []]);
  }, 120_000);
});

/** As users do: Node reads no TypeScript below node_modules. */
function copyExamples(type: ProjectType): void {
  const folder = installed.project(type);
  rmSync(join(folder, 'examples'), { recursive: true, force: true });
  cpSync(join(folder, 'node_modules', 'holdfast', 'examples'), join(folder, 'examples'), { recursive: true });
}

describe.each(PROJECTS)('in a project of type %s on Node %i', (type, version) => {
  let address: string;
  beforeAll(async () => {
    copyExamples(type);
    address = await installed.up(type, version);
  }, 120_000);
  afterAll(async () => {
    await installed.holdfast(type, version, ['down', '--sessions']);
  }, 60_000);

  const holdfast = (...args: string[]) => installed.holdfast(type, version, args);
  const example = (name: string) =>
    installed.run('node', [join('examples', `${name}.ts`)], {
      cwd: installed.project(type),
      version,
      env: { TEMPORAL_ADDRESS: address },
    });

  test('the command line says its version', async () => {
    expect(await holdfast('--version')).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' });
  }, 60_000);

  test('`exec` runs commands in shells that last, and `ps` shows them', async () => {
    expect(await holdfast('exec', 'cd /; kept=yes')).toMatchObject({ code: 0, stderr: '' });
    expect(await holdfast('exec', 'echo "$kept in $PWD"')).toEqual({
      code: 0,
      stdout: 'yes in /\n',
      stderr: '',
    });
    expect(await holdfast('exec', '--runtime', 'nodejs', 'console.log(process.versions.node)')).toMatchObject(
      {
        code: 0,
        stdout: expect.stringMatching(new RegExp(`^${version}\\.`)) as string,
      },
    );
    expect(await holdfast('exec', 'exit 3')).toMatchObject({ code: 3 });
    const { code, stdout, stderr } = await holdfast('ps', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.stringify(JSON.parse(stdout))).toContain('exec/');
  }, 90_000);

  test('an agent runs', async () => {
    const file = join(installed.project(type), 'replies.yaml');
    writeFileSync(file, JSON.stringify([{ text: 'It is installed.' }]));
    const ran = await holdfast('run', '--model', `scripted:${file}`, 'Are you there?');
    expect(ran).toMatchObject({ code: 0, stdout: expect.stringContaining('It is installed.') as string });
  }, 60_000);

  test('each example runs', async () => {
    expect(await example('backend')).toMatchObject({
      code: 0,
      stdout:
        'the script asks: Deploy?\nit went on: yes / deploying: yes (exit code 0)\n' +
        'answered after 3 steps: It is deployed.\n',
      stderr: '',
    });
    expect(await example('embedded-worker')).toMatchObject({
      code: 0,
      stdout: 'There are 12 pieces of bolts.\n',
    });
    expect(await example('child-agent')).toMatchObject({ code: 0, stdout: 'the version: All tests pass.\n' });
  }, 120_000);

  test('the README’s program runs', async () => {
    writeFileSync(join(installed.project(type), README_FILE), readmeProgram());
    const env = { TEMPORAL_ADDRESS: address };
    const ran = await installed.run('node', [README_FILE], { cwd: installed.project(type), version, env });
    // Node 22 warns on stderr that it runs TypeScript.
    expect(ran).toMatchObject({ code: 0, stdout: README_OUTPUT });
  }, 60_000);

  test('own tools load as TypeScript', async () => {
    expect(await holdfast('up', '--tools', 'examples/own-tools.ts')).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await holdfast('exec', 'tool stock_level --article bolts');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '12 pieces of bolts\n' });
  }, 60_000);

  test('`down` ends all of it', async () => {
    expect(await holdfast('down', '--sessions')).toMatchObject({ code: 0, stderr: '' });
    expect((await holdfast('ps')).code).not.toBe(0);
  }, 60_000);
});

const old = oldNode();
(old ? describe : describe.skip)('on Node 20, which is older than workers need', () => {
  const run = (args: string[]) => installed.run(old ?? '', args, { cwd: installed.project('module') });

  test('the client loads by import and require', async () => {
    const loaded = { code: 0, stdout: 'function\n', stderr: '' };
    const importing = `import { HoldfastClient } from 'holdfast'; console.log(typeof HoldfastClient.connect);`;
    expect(await run(['--input-type=module', '-e', importing])).toEqual(loaded);
    const requiring = `console.log(typeof require('holdfast').HoldfastClient.connect);`;
    expect(await run(['--input-type=commonjs', '-e', requiring])).toEqual(loaded);
  }, 60_000);

  test('the command line says which Node to install, and exits 69', async () => {
    const { code, stdout, stderr } = await run(['node_modules/holdfast/bin/holdfast.js', 'exec', 'true']);
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
    expect(stderr).toMatch(
      /^holdfast: node_too_old: Holdfast needs a newer Node: got 20\.\S+, allowed 22\.13 or newer\. Next: Install a newer Node, for example from https:\/\/nodejs\.org or with `nvm install --lts`\.\n$/,
    );
  }, 60_000);
});
