// The package as npm would publish it, and its tarball installed without a network.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../system/package-root';
import { InstalledPackage } from '../helpers/releases/installed-package';

interface Published {
  name: string;
  version: string;
  filename: string;
  files: { path: string }[];
}

const installed = new InstalledPackage();
afterAll(async () => {
  expect(await installed.remove()).toEqual([]);
}, 60_000);

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(packageRoot(), name), 'utf8'));
const manifest = readJson('package.json') as Record<string, unknown> & { name: string; version: string };
/** No registry answers there. */
const OFFLINE = ['--offline', '--registry=http://127.0.0.1:9', '--ignore-scripts'];

test('package.json may be published, for all to see and with provenance, and says where its source is', () => {
  expect(manifest).not.toHaveProperty('private');
  expect(manifest).toMatchObject({
    license: 'Apache-2.0',
    repository: {
      type: 'git',
      url: expect.stringMatching(/^git\+https:\/\/github\.com\/.+\.git$/) as string,
    },
    publishConfig: { access: 'public', provenance: true },
  });
});

test('`npm publish --dry-run` takes the package as it stands', async () => {
  const args = ['publish', '--dry-run', '--json', ...OFFLINE];
  const { code, stdout, stderr } = await installed.run('npm', args, { cwd: packageRoot() });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const { [manifest.name]: published } = JSON.parse(stdout) as Record<string, Published | undefined>;
  expect(published).toMatchObject({ name: manifest.name, version: manifest.version });
  expect(stderr).toContain('with tag latest and public access (dry-run)');
  // What npm had to change in package.json, and what will not be as it says.
  expect(stderr).not.toMatch(/auto-corrected|normalized/);
});

test('every page that README.md links to below docs/ is in the package', async () => {
  const { stdout } = await installed.run('npm', ['pack', '--dry-run', '--json', ...OFFLINE], {
    cwd: packageRoot(),
  });
  const [{ files }] = JSON.parse(stdout) as [Published];
  const readme = readFileSync(join(packageRoot(), 'README.md'), 'utf8');
  const linked = [...readme.matchAll(/\]\((docs\/[^)#]+)/g)].map(([, path = '']) => path);
  expect(linked.length).toBeGreaterThan(5);
  expect(files.map(({ path }) => path)).toEqual(expect.arrayContaining(linked));
});

test('the tarball installs without a network beside the packages that it needs, and runs', async () => {
  const { folder } = installed;
  const packing = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const packed = await installed.run('npm', packing, { cwd: packageRoot() });
  const [{ filename }] = JSON.parse(packed.stdout) as [Published];
  const project = join(folder, 'offline');
  copyProduction(project);
  const args = ['install', '--no-audit', '--no-fund', ...OFFLINE, join(folder, filename)];
  expect(await installed.run('npm', args, { cwd: project })).toMatchObject({ code: 0 });

  const env = { HOLDFAST_DATA: join(folder, 'data') };
  const node = (...given: string[]) => installed.run(process.execPath, given, { cwd: project, env });
  expect(await node(join('node_modules', 'holdfast', 'bin', 'holdfast.js'), '--version')).toEqual({
    code: 0,
    stdout: `${manifest.version}\n`,
    stderr: '',
  });
  expect(await node('-e', `console.log(typeof require('holdfast').HoldfastClient.connect)`)).toEqual({
    code: 0,
    stdout: 'function\n',
    stderr: '',
  });
}, 180_000);

/** A project with the packages that the lock file has for users; a registry would have given it the same. */
function copyProduction(project: string): void {
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true }));
  const { packages } = readJson('package-lock.json') as { packages: Record<string, { dev?: true }> };
  const ofUsers = Object.entries(packages).flatMap(([path, { dev }]) =>
    !dev && /^node_modules\/(@[^/]+\/)?[^/]+$/.test(path) ? [path] : [],
  );
  // Without their links in `.bin` npm would fetch those with programs anew.
  for (const path of [...ofUsers, 'node_modules/.bin']) {
    const from = join(packageRoot(), path);
    // Those of other platforms are not there.
    if (existsSync(from)) cpSync(from, join(project, path), { recursive: true, verbatimSymlinks: true });
  }
}
