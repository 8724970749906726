// The sessions of a host, in the sandbox that its configuration specifies.
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { HoldfastClient } from '../../client/holdfast-client';
import { LOCAL_HOST } from '../../contracts/ids';
import { detectTreeKill } from '../../exec/processes/process-tree';
import { openSandbox, type SandboxChoice } from '../../exec/sandbox/open-sandbox';
import type { SandboxProfile } from '../../exec/sandbox/profile';
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
  env?: Readonly<Record<string, string>> | undefined;
  host?: string | null | undefined;
  log?: WorkersLog | undefined;
}

interface ConfinedEnvironment {
  env: Record<string, string>;
  sandbox: SandboxProfile | undefined;
}

/**
 * The environment and the sandbox of a host's sessions. Throws `sandbox_missing` and `config_invalid`; `warn` is called if
 * a preferred sandbox does not work.
 */
export async function confinedEnvironment(
  { dataDir, workdir, env: added }: Pick<HostOptions, 'dataDir' | 'env'> & { workdir: string },
  { choice, loaded, stubs }: { choice: SandboxChoice; loaded: readonly string[]; stubs: string | undefined },
  warn: (reason: string) => void,
): Promise<ConfinedEnvironment> {
  // As the user's other folders.
  makeFolder(workdir, 0o777);
  const given = { ...sessionEnvironment(process.env), ...added };
  const { env, variables } = choice.mode === 'off' ? { env: given, variables: {} } : withoutLoader(given);
  const places = { workspace: workdir, home: env.HOME ?? homedir(), dataDir, loaded, variables, stubs };
  return { env, sandbox: await openSandbox(choice, places, warn) };
}

/** Throws `sandbox_missing` and `config_invalid`, before it opens any shell. */
export async function openSessions(
  { dataDir, workdir = usualWorkingFolder(dataDir), env: added, host, log }: HostOptions,
  { client, stubs, secrets, sandbox: choice, loaded, logBytes }: SessionParts,
): Promise<SessionHost> {
  const folder = stubs && dirname(stubs.folder);
  const { env, sandbox } = await confinedEnvironment(
    { dataDir, workdir, env: added },
    { choice, loaded, stubs: folder },
    (reason) => log?.warn('commands run without a sandbox', { reason }),
  );
  const sessions = new SessionHost({
    dataDir,
    cwd: sandbox?.workspace ?? workdir,
    env,
    treeKill: sandbox ? 'user-pid-namespace' : detectTreeKill(),
    sandbox,
    owner: () => sessionOwner(client.temporal),
    keepSpare: true,
    stubs,
    secrets,
    logBytes,
  });
  if (choice.mode === 'required')
    await sessions.closeOtherwiseConfined(host ?? LOCAL_HOST, 'it was opened without the current sandbox');
  return sessions;
}
