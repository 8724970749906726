// X4: tools that run on a host outside its sessions are in the same sandbox.
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageFacts } from '../../../contracts/tools/image-header';
import type { ImageFacts } from '../../../contracts/tools/images';
import { Sandbox } from '../../../exec/sandbox/sandbox';
import { png } from '../../helpers/tools/images';
import { noSandbox, sandboxOf } from '../../helpers/hosts/sandbox';
import { toolOnHost, type ToolOnHost } from '../../helpers/tools/tool-call';

const missing = noSandbox();
const whereSandboxed = missing === undefined ? describe : describe.skip;

whereSandboxed(`with a sandbox${missing === undefined ? '' : ` (not checked: ${missing})`}`, () => {
  let outside: string;
  let dataDir: string;
  const tools: ToolOnHost[] = [];
  beforeAll(() => {
    // Shown on purpose: temporary folders are hidden anyway, and so is the checkout if it lies in the home folder.
    outside = mkdtempSync(join(tmpdir(), 'holdfast-shown-'));
    dataDir = mkdtempSync(join(tmpdir(), 'holdfast-data-'));
    writeFileSync(join(outside, 'shown'), 'shown to all\n');
    writeFileSync(join(dataDir, 'holder.json'), 'the token\n');
  });
  afterAll(() => {
    for (const folder of [outside, dataDir]) rmSync(folder, { recursive: true });
    for (const tool of tools) tool.remove();
  });

  /** The tool on a host with a sandbox, and on one without. */
  function both(name: string): { confined: ToolOnHost; free: ToolOnHost } {
    const free = toolOnHost(name);
    const folder = toolOnHost(name);
    tools.push(free, folder);
    const sandbox = new Sandbox(sandboxOf({ readable: [outside] }, { cwd: folder.directory, dataDir }));
    const confine = (cwd: string, argv: readonly string[]): string[] => sandbox.program(cwd, argv);
    const env = { PATH: process.env.PATH ?? '' };
    const changes = { host: { name: 'local', cwd: folder.directory, env, confine } };
    return {
      free,
      confined: {
        ...folder,
        value: (args) => folder.value(args, changes),
        error: (args) => folder.error(args, changes),
        result: (args, more) => folder.result(args, { ...changes, ...more }),
      },
    };
  }

  test('a file is written and read in the workspace, and written nowhere else', async () => {
    const { confined, free } = both('write_file');
    const file = join(outside, 'written');
    expect(await confined.value({ file_path: 'mine', content: 'text' })).toEqual({ bytes: 4 });
    expect(readFileSync(join(confined.directory, 'mine'), 'utf8')).toBe('text');
    expect(await confined.error({ file_path: file, content: 'x' })).toMatchObject({ code: 'file_failed' });
    symlinkSync(outside, join(confined.directory, 'link'));
    expect(await confined.error({ file_path: 'link/written', content: 'x' })).toMatchObject({
      code: 'file_failed',
    });
    expect(existsSync(file)).toBe(false);
    await free.value({ file_path: file, content: 'x' });
    expect(existsSync(file)).toBe(true);
  });

  test('an image in the workspace or shown to all is viewed; one outside is refused as read_file refuses a file', async () => {
    const { confined, free } = both('view_image');
    const data = png(20, 10);
    const facts = { mime: 'image/png', bytes: data.length, width: 20, height: 10 };
    writeFileSync(join(confined.directory, 'mine.png'), data);
    writeFileSync(join(outside, 'shown.png'), data);
    writeFileSync(join(dataDir, 'secret.png'), data);
    symlinkSync(join(dataDir, 'secret.png'), join(confined.directory, 'link.png'));
    for (const path of ['mine.png', join(outside, 'shown.png')])
      expect(await confined.value({ path })).toEqual({ path, ...facts });
    for (const path of ['link.png', join(dataDir, 'secret.png')])
      expect(await confined.error({ path })).toMatchObject({ code: 'not_found' });
    expect(await confined.error({ path: `/proc/${process.pid}/environ` })).toMatchObject({
      code: 'not_found',
    });
    expect(await free.value({ path: join(dataDir, 'secret.png') })).toMatchObject(facts);
    rmSync(join(dataDir, 'secret.png'));
  });

  test('a model is shown the image that the sandbox read, byte for byte; a refused one is not shown', async () => {
    const { confined } = both('view_image');
    const data = png(20, 10);
    writeFileSync(join(confined.directory, 'mine.png'), data);
    writeFileSync(join(confined.directory, 'notes.png'), 'text');
    const shown: Buffer[] = [];
    const addImage = (image: Uint8Array): ImageFacts => {
      shown.push(Buffer.from(image));
      return imageFacts(image);
    };
    const result = await confined.result({ path: 'mine.png' }, { addImage });
    expect(result.content).toMatch(/^The image mine\.png: png, 20x10, /);
    const refused = await confined.result({ path: 'notes.png' }, { addImage });
    expect(refused.content).toContain('Error image_refused');
    expect(shown.map((image) => image.equals(data))).toEqual([true]);
  });

  test('a file that is shown can be read; secrets, processes and the data folder cannot', async () => {
    const { confined, free } = both('read_file');
    expect(await confined.value({ file_path: join(outside, 'shown') })).toBe('shown to all\n');
    for (const path of [join(dataDir, 'holder.json'), `/proc/${process.pid}/environ`]) {
      expect(await confined.error({ file_path: path })).toMatchObject({ code: 'not_found' });
    }
    expect(await free.value({ file_path: join(dataDir, 'holder.json') })).toBe('the token\n');
  });

  test('a search and a listing end at the same borders', async () => {
    const grep = both('grep_files');
    const search = { pattern: 'token', path: dataDir };
    writeFileSync(join(grep.confined.directory, 'notes'), 'a token of mine\n');
    expect(await grep.confined.value({ pattern: 'token' })).toMatchObject({ matches: [{ file: 'notes' }] });
    expect(await grep.confined.value(search)).toMatchObject({ matches: [] });
    expect(await grep.free.value(search)).toMatchObject({ matches: [{ text: 'the token' }] });
    const list = both('list_dir');
    expect(await list.confined.value({ dir_path: dataDir })).toMatchObject({ total: 0 });
    expect(await list.free.value({ dir_path: dataDir })).toMatchObject({ total: 1 });
  });

  test('a patch goes through no link out of the workspace', async () => {
    const { confined, free } = both('apply_patch');
    const input = '*** Begin Patch\n*** Add File: out/patched\n+x\n*** End Patch';
    for (const { directory } of [confined, free]) symlinkSync(outside, join(directory, 'out'));
    expect(await confined.error({ input })).toMatchObject({ code: 'file_failed' });
    expect(existsSync(join(outside, 'patched'))).toBe(false);
    await free.value({ input });
    expect(existsSync(join(outside, 'patched'))).toBe(true);
  });

  test('a command runs in the sandbox, and reports its end as it does outside', async () => {
    const { confined } = both('shell');
    const write = `echo x > ${outside}/shell; echo y > mine; exit 3`;
    expect(await confined.value({ command: write })).toMatchObject({ exit_code: 3 });
    expect([existsSync(join(outside, 'shell')), existsSync(join(confined.directory, 'mine'))]).toEqual([
      false,
      true,
    ]);
    expect(await confined.value({ command: ['no-such-program'] })).toMatchObject({ exit_code: 127 });
    expect(await confined.value({ command: 'sleep 600', timeout_ms: 200 })).toMatchObject({ exit_code: 124 });
    expect(await confined.value({ command: 'kill -9 $$' })).toMatchObject({ exit_code: 137 });
  });
});
