// A host with real terminals in its own folder, without Temporal; closed with everything it opened.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionRef } from '../../../contracts/ids';
import type { CodeImport } from '../../../contracts/tools/package-names';
import {
  DEFAULT_YIELD,
  type CommandView,
  type TreeKill,
  type Runtime,
  type YieldSettings,
} from '../../../contracts/sessions/session';
import { commandView } from '../../../exec/host/command-view';
import { detectTreeKill } from '../../../exec/processes/process-tree';
import type { Until } from '../../../exec/protocol';
import type { SecretStore } from '../../../exec/host/secret-store';
import { sessionEnvironment } from '../../../exec/host/session-environment';
import { SessionHost } from '../../../exec/host/session-host';
import type { StubFolder } from '../../../exec/host/stub-folder';
import { sandboxOf, sandboxOfRun, type TestSandbox } from '../hosts/sandbox';

export interface TestHost {
  host: SessionHost;
  dataDir: string;
  /** Working folder of the shells. */
  cwd: string;
  ref: SessionRef;
  /** Runs a command and answers at its end or yield. */
  run(
    code: string,
    options?: {
      runtime?: Runtime;
      ref?: SessionRef;
      yield?: Partial<YieldSettings>;
      id?: string;
      checkImports?: CodeImport[];
    },
  ): Promise<CommandView>;
  /** Waits for a fact about the session's command. */
  until(until: Until, ref?: SessionRef): Promise<CommandView>;
  end(): Promise<void>;
}

let commands = 0;

/** `dataDir`: where a test wants the data, for example on a small disk. */
export function testHost({
  dataDir = mkdtempSync(join(tmpdir(), 'holdfast-host-')),
  treeKill = detectTreeKill(),
  stubs,
  secrets,
  sandbox = sandboxOfRun(),
  logBytes,
}: {
  dataDir?: string;
  treeKill?: TreeKill;
  stubs?: StubFolder;
  secrets?: SecretStore;
  /** Null: none, whatever the run asks for. */
  sandbox?: TestSandbox | null | undefined;
  /** Maximum bytes of a session's log. */
  logBytes?: number;
} = {}): TestHost {
  const cwd = mkdtempSync(join(tmpdir(), 'holdfast-cwd-'));
  const host = new SessionHost({
    dataDir,
    cwd,
    env: sessionEnvironment(process.env),
    treeKill,
    stubs,
    secrets,
    logBytes,
    sandbox: sandbox ? sandboxOf(sandbox, { dataDir, cwd, stubs }) : undefined,
  });
  const session: SessionRef = { agent: 'test', host: 'local', session: 0 };
  const observe = async (ref: SessionRef, until: Until): Promise<CommandView> => {
    const { reason, snapshot } = await host.observe(ref, until);
    return commandView({ ref, logPath: host.logPath(ref), snapshot, from: null, reason });
  };
  return {
    host,
    dataDir,
    cwd,
    ref: session,
    async run(code, options = {}) {
      const {
        runtime = 'terminal',
        ref = session,
        yield: yielding,
        id = `c${++commands}`,
        checkImports,
      } = options;
      await host.run(ref, { id, runtime, code, checkImports });
      return observe(ref, { kind: 'yield', settings: { ...DEFAULT_YIELD, ...yielding } });
    },
    until: (until, ref = session) => observe(ref, until),
    async end() {
      await host.closeAll('test ended');
      host.detach();
      rmSync(dataDir, { recursive: true, force: true });
      rmSync(cwd, { recursive: true, force: true });
    },
  };
}
