// X4: what a person does outside, with a PATH, an editor or a folder, opens no way out of a sandbox.
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readText } from '../../../../system/processes/proc';
import { noSandbox } from '../../../helpers/hosts/sandbox';
import { until } from '../../../helpers/until';
import { NOBODY, noHostOfUser } from './host-of-user';
import { Outside } from './outside-of-sandbox';
import { asMe, asUser, NAMED, type Runner } from './probe-runner';

const me = process.getuid?.() === 0 ? 'root' : 'a user';

describe.each([
  [me, asMe, noSandbox(), undefined],
  ['nobody', asUser, noHostOfUser() ?? noSandbox(), { uid: NOBODY, gid: NOBODY }],
] as const)(
  'as %s, with a folder that the sandbox can write first on the PATH',
  (...[, open, missing, user]) => {
    const PATH = process.env.PATH;
    const title = 'a sandboxed command does not have a program of its own run by its holder';
    if (missing !== undefined) {
      test.skip(`${title} (not checked: ${missing})`, () => undefined);
      return;
    }
    let out: Outside;
    let shared: string;
    const opened: Runner[] = [];
    const openOne = (home: string | null): Runner => {
      const runner = open(home, { ...NAMED, ...out.shown, writable: [shared] });
      opened.push(runner);
      return runner;
    };
    beforeAll(() => {
      out = new Outside(user);
      shared = mkdtempSync(join(tmpdir(), 'holdfast-shared-'));
      chmodSync(shared, 0o777);
      process.env.PATH = `${shared}/bin:${PATH}`;
    });
    afterAll(async () => {
      process.env.PATH = PATH;
      await Promise.all([out.end(), ...opened.map((runner) => runner.end())]);
      rmSync(shared, { recursive: true });
    });

    /** They say so where a holder has started them: what a session runs itself shows nothing. */
    const plant = (): string =>
      ['mkfifo', 'stty', 'nsenter', 'bwrap', 'unshare']
        .map((name) => [
          `rm -f ${shared}/bin/${name}; cat > ${shared}/bin/${name} <<'END'`,
          '#!/bin/sh',
          `tr '\\0' ' ' </proc/$PPID/cmdline | grep -q -e dist/holder.js -e SessionHost -e jest && echo ${name} >> ${out.folder}/ran`,
          `PATH=/usr/bin:/bin exec ${name} "$@"`,
          `END\nchmod 755 ${shared}/bin/${name}`,
        ])
        .map((lines) => lines.join('\n'))
        .join('\n');
    const ran = (): string => readText(join(out.folder, 'ran')) ?? '';

    async function tempt(runner: Runner): Promise<void> {
      await runner.run(`mkdir -p ${shared}/bin; ${plant()}`);
      // Somebody is waited for, so the holder looks at the terminal's settings; a new shell has new channels.
      await runner.run('read -t 0.5 x');
      await runner.reset();
      await runner.run(':');
    }

    test(title, async () => {
      await tempt(openOne(out.home));
      // One that is there when the host looks for programs.
      await tempt(openOne(out.home));
      expect(ran()).toBe('');
      await tempt(openOne(null));
      expect(ran()).toContain('mkfifo\n');
      expect(ran()).toContain('stty\n');
    });
  },
);

describe.each([
  [me, asMe, noSandbox()],
  ['nobody', asUser, noHostOfUser() ?? noSandbox()],
] as const)('as %s, in a folder with something hidden', (...[, open, missing]) => {
  const titles = [
    'a sandboxed command does not uncover what is hidden by renaming a folder above it',
    'a sandboxed command is ended when someone outside replaces the file that is hidden from it',
    'a sandboxed command changes nothing that its host loads, and puts nothing in its place',
  ] as const;
  if (missing !== undefined) {
    test.skip.each(titles)(`%s (not checked: ${missing})`, () => undefined);
    return;
  }
  let shared: string;
  let runner: Runner;
  const at = (...names: string[]): string => join(shared, ...names);
  beforeEach(() => {
    shared = mkdtempSync(join(tmpdir(), 'holdfast-shared-'));
    mkdirSync(at('a', 'b', 'secret'), { recursive: true });
    writeFileSync(at('a', 'b', 'secret', 'key'), 'canary');
    writeFileSync(at('.env'), 'canary');
    mkdirSync(at('conf'));
    writeFileSync(at('conf', 'holdfast.toml'), 'as it was');
    chmodSync(at('conf', 'holdfast.toml'), 0o666);
    for (const path of [at(), at('conf'), at('a'), at('a', 'b'), at('a', 'b', 'secret')])
      chmodSync(path, 0o777);
  });
  afterEach(async () => {
    await runner.end();
    rmSync(shared, { recursive: true });
  });
  const openOne = (home: string | null): Runner =>
    (runner = open(home, {
      writable: [shared],
      hidden: [at('a', 'b', 'secret'), at('.env')],
      loaded: [at('conf', 'holdfast.toml'), at('conf', 'roles')],
    }));
  const leak = (): string => readText(at('leak')) ?? '';

  test(titles[0], async () => {
    const tried = async (one: Runner): Promise<string> => {
      await one.run(`cd ${shared}; mv a moved; mv a/b a/moved`);
      // The next shell looks for it where it was.
      await one.reset();
      await one.run(`cd ${shared}; cat a/moved/secret/key moved/b/secret/key moved/moved/secret/key > leak`);
      return leak();
    };
    expect(await tried(openOne(tmpdir()))).toBe('');
    await runner.end();
    expect(await tried(openOne(null))).toContain('canary');
  });

  test(titles[1], async () => {
    openOne(tmpdir());
    const running = runner.run(`cd ${shared}; touch began; until grep -q new .env; do :; done; sleep 600`);
    await until(() => readText(at('began')) !== undefined);
    // Another one does not matter.
    writeFileSync(at('other'), 'canary');
    writeFileSync(at('.env.tmp'), 'canary, new', { mode: 0o644 });
    renameSync(at('.env.tmp'), at('.env'));
    // It ends, long before its own end.
    await running;
    await runner.run(`cat ${at('.env')} > ${at('leak')}`);
    expect(leak()).toBe('');
  });

  test(titles[2], async () => {
    const now = (): string =>
      `${readText(at('conf', 'holdfast.toml'))}, ${readText(at('conf', 'roles', 'evil.md'))}`;
    const tried = async (one: Runner): Promise<string> => {
      await one.run(
        `cd ${shared}/conf; echo evil > holdfast.toml; rm -f holdfast.toml; echo evil > holdfast.toml`,
      );
      await one.run(`cd ${shared}; mv conf old; mkdir -p conf/roles; echo evil > conf/roles/evil.md`);
      return now();
    };
    expect(await tried(openOne(tmpdir()))).toBe('as it was, undefined');
    await runner.end();
    expect(await tried(openOne(null))).toBe('undefined, evil\n');
  });
});
