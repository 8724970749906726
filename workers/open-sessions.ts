// The sessions of a host, in the sandbox that its configuration asks for.
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import type { HoldfastClient } from '../client/holdfast-client';
import { LOCAL_HOST } from '../contracts/ids';
import { detectTreeKill } from '../exec/holder/process-tree';
import { openSandbox, type SandboxChoice } from '../exec/sandbox/open-sandbox';
import type { SecretStore } from '../exec/secret-store';
import { sessionEnvironment, withoutLoader } from '../exec/session-environment';
import { SessionHost } from '../exec/session-host';
import type { StubFolder } from '../exec/stub-folder';
import { usualWorkingFolder } from '../exec/working-folder';
import { sessionOwner } from './orphan-sweep';
import type { WorkersLog } from './workers';

/** What a host's sessions are made with, beside its options. */
export interface SessionParts {
  client: HoldfastClient;
  /** By which scripts call tools. */
  stubs: StubFolder | undefined;
  secrets: SecretStore;
  sandbox: SandboxChoice;
  /** Most bytes of a session's log. */
  logBytes: number;
  /** What this process reads, which code in the sandbox may not write. */
  loaded: readonly string[];
}

/** As `WorkersOptions` says it. */
interface HostOptions {
  dataDir: string;
  workdir?: string | undefined;
  env?: Readonly<Record<string, string>>;
  host?: string | null | undefined;
  log?: WorkersLog;
}

/** Throws `sandbox_missing` and `config_invalid`, before any shell is opened. */
export async function openSessions(
  { dataDir, workdir = usualWorkingFolder(dataDir), env: added, host, log }: HostOptions,
  { client, stubs, secrets, sandbox: choice, loaded, logBytes }: SessionParts,
): Promise<SessionHost> {
  mkdirSync(workdir, { recursive: true });
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
    await sessions.closeOtherwiseConfined(host ?? LOCAL_HOST, 'it was opened without the sandbox of now');
  return sessions;
}
