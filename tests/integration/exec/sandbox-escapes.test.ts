// X4, X5: what runs in a sandbox does nothing to its host, seen from outside. Each way out is tried without a sandbox
// first: there it works, so it is the sandbox that keeps it from working.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readText } from '../../../exec/proc';
import { noSandbox, type TestSandbox } from '../../helpers/sandbox';
import { testHost } from '../../helpers/session-host';
import { PROBES, PROBES_OF_NAMESPACES, tidy, type Probe } from './escape-probes';
import { hostOfUser, NOBODY, noHostOfUser, USER_SESSION } from './host-of-user';
import { Outside } from './outside-of-sandbox';
import { eventually } from './session-processes';

interface Runner {
  workspace: string;
  run(code: string): Promise<unknown>;
  /** A new shell. */
  reset(): Promise<unknown>;
  end(): Promise<void>;
}

let commands = 0;

const again = (): { id: string; reason: null; by: 'reset' } => ({
  id: `again-${++commands}`,
  reason: null,
  by: 'reset',
});

/** Not one that is tried. */
const NAMED = { network: ['named.invalid:443'] };

function asMe(sandboxHome: string | null, settings: TestSandbox = {}): Runner {
  const t = testHost({
    treeKill: 'process-search',
    sandbox: sandboxHome === null ? null : { home: sandboxHome, ...settings },
  });
  const reset = (): Promise<unknown> => t.host.reset(t.ref, again());
  return { workspace: t.cwd, run: (code) => t.run(code), reset, end: () => t.end() };
}

const asMeWithNames = (sandboxHome: string | null): Runner => asMe(sandboxHome, NAMED);

function asUser(sandboxHome: string | null, settings: TestSandbox = {}): Runner {
  const host = hostOfUser(sandboxHome === null ? 'process-search' : undefined, sandboxHome, settings);
  const run = async (code: string): Promise<void> => {
    await host.call('run', USER_SESSION, { id: `probe-${++commands}`, runtime: 'terminal', code });
    await host.call('observe', USER_SESSION, { kind: 'exit', from: 0, timeoutMs: 20_000 });
  };
  const reset = (): Promise<unknown> => host.call('reset', USER_SESSION, again());
  return { workspace: host.cwd, run, reset, end: () => host.end() };
}

const asUserWithNames = (sandboxHome: string | null): Runner => asUser(sandboxHome, NAMED);

/** Whether it was done within `ms` of the end of its command: a kill takes a moment. */
async function tries(
  { code, worked, before }: Probe,
  out: Outside,
  runner: Runner,
  ms: number,
): Promise<boolean> {
  const { workspace } = runner;
  tidy(workspace);
  before?.(out, workspace);
  out.prepare();
  await runner.run(code(out));
  // What a holder writes for the next command is a way out too.
  await runner.run(':');
  return eventually(
    () => worked(out, workspace),
    (done) => done,
    ms,
  );
}

/** Root is stopped by nothing but the sandbox; a user also by what only root may do. */
const applies =
  (isRoot: boolean) =>
  (probe: Probe): boolean =>
    isRoot ? !probe.asUser : !probe.asRoot && (probe.userCan?.() ?? true);
const isRoot = process.getuid?.() === 0;
const me = isRoot ? 'root' : 'a user';
// A set-user-ID program is root's, which is made by root alone.
const isOfMine = (probe: Probe): boolean => applies(isRoot)(probe) && !probe.asUser;

describe.each([
  [me, asMe, noSandbox(), undefined, PROBES.filter(isOfMine)],
  [`${me} with named hosts`, asMeWithNames, noSandbox(), undefined, PROBES_OF_NAMESPACES.filter(isOfMine)],
  [
    'nobody with named hosts',
    asUserWithNames,
    noHostOfUser() ?? noSandbox(),
    { uid: NOBODY, gid: NOBODY },
    PROBES.filter(applies(false)),
  ],
] as const)('as %s', (...[, open, missing, user, probes]) => {
  if (missing !== undefined) {
    test.skip.each(probes)(`a sandboxed command does not $name (not checked: ${missing})`, () => undefined);
    return;
  }
  let out: Outside;
  let free: Runner;
  let confined: Runner;
  beforeAll(async () => {
    out = new Outside(user);
    await out.listen();
    [free, confined] = [open(null), open(out.home)];
    // A shell is told at its start what it sees.
    for (const { workspace } of [free, confined]) PROBES.forEach(({ before }) => before?.(out, workspace));
  });
  afterAll(async () => {
    const ended = await Promise.allSettled([free.end(), confined.end(), out.end()]);
    expect(ended.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  test.each(probes)('a sandboxed command does not $name', async (probe) => {
    // First the one that fails: what the other has done is there then.
    expect(await tries(probe, out, confined, 30)).toBe(false);
    expect(await tries(probe, out, free, 5_000)).toBe(true);
  });
});

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
      const runner = open(home, { ...NAMED, writable: [shared] });
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

    /** They say so where a holder has started them: what a session runs itself tells nothing. */
    const plant = (): string =>
      ['mkfifo', 'stty', 'nsenter', 'bwrap', 'unshare']
        .map((name) => [
          `rm -f ${shared}/bin/${name}; cat > ${shared}/bin/${name} <<'END'`,
          '#!/bin/sh',
          `tr '\\0' ' ' </proc/$PPID/cmdline | grep -q -e holder/main.js -e SessionHost -e jest && echo ${name} >> ${out.folder}/ran`,
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
