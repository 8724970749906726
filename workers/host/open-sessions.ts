// The sessions of a host, in the sandbox that its configuration specifies.
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { HoldfastClient } from '../../client/holdfast-client';
import { LOCAL_HOST } from '../../contracts/ids';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { openSandbox, type SandboxChoice } from '../../exec/sandbox/open-sandbox';
import type { SecretStore } from '../../exec/host/secret-store';
import { sessionEnvironment, withoutLoader } from '../../exec/host/session-environment';
import { SessionHost } from '../../exec/host/session-host';
import type { StubFolder } from '../../exec/host/stub-folder';
import { usualWorkingFolder } from '../../exec/working-folder';
import { makeFolder } from '../../system/make-folder';
import { sessionOwner } from './orphan-sweep';
import type { WorkersLog } from '../workers';

/** What a host's sessions need besides its options. */
export interface SessionParts {
  client: HoldfastClient;
  /** Stubs through which scripts call tools. */
  stubs: StubFolder | undefined;
  secrets: SecretStore;
  sandbox: SandboxChoice;
  /** Maximum size of a session's log, in bytes. */
  logBytes: number;
  /** What this process reads, and code in the sandbox may not write. */
  loaded: readonly string[];
}

/** See `WorkersOptions`. */
interface HostOptions {
  dataDir: string;
  workdir?: string | undefined;
  env?: Readonly<Record<string, string>>;
  host?: string | null | undefined;
  log?: WorkersLog;
}

/** Throws `sandbox_missing` and `config_invalid`, before it opens any shell. */
export async function openSessions(
  { dataDir, workdir = usualWorkingFolder(dataDir), env: added, host, log }: HostOptions,
  { client, stubs, secrets, sandbox: choice, loaded, logBytes }: SessionParts,
): Promise<SessionHost> {
  // As the user's other folders.
  makeFolder(workdir, 0o777);
  const given = { ...sessionEnvironment(process.env), ...added };
  const { env, variables } = choice.mode === 'off' ? { env: given, variables: {} } : withoutLoader(given);
  const places = { workspace: workdir, home: env.HOME ?? homedir(), dataDir, loaded, variables };
  const sandbox = await openSandbox(choice, { ...places, stubs: stubs && dirname(stubs.folder) }, (reason) =>
    log?.warn('commands run without a sandbox', { reason }),
  );
  const sessions = new SessionHost({
    dataDir,
    cwd: sandbox?.workspace ?? workdir,
    env,
    treeKill: sandbox ? 'user-pid-namespace' : detectTreeKill(),
    sandbox,
    owner: await sessionOwner(client.temporal),
    keepSpare: true,
    stubs,
    secrets,
    logBytes,
  });
  if (choice.mode === 'required')
    await sessions.closeOtherwiseConfined(host ?? LOCAL_HOST, 'it was opened without the current sandbox');
  return sessions;
}
