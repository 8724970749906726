// `holdfast doctor` on the sandbox: whether there is one, what it enforces, and what lacking one means.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { limitsProcesses, trySandbox, type SandboxChoice } from '../../exec/sandbox/open-sandbox';
import type { SandboxProfile } from '../../exec/sandbox/profile';
import { usualWorkingFolder } from '../../exec/working-folder';
import { readConfiguration, workersSource } from '../../workers/configuration/configuration';
import {
  exposedNow,
  loadedPlaces,
  moduleFiles,
  refuseExposed,
  refuseExposedParts,
} from '../../workers/configuration/exposed';
import { recordedTools, recordedWorkdir } from '../../workers/configuration/recorded-choice';

/** Why it matters. */
const WITHOUT =
  'code in a session may do whatever its user may, even reach the local Temporal server and approve itself: ' +
  'policy then only stops mistakes';
const WITH_NETWORK = 'the network is open: code in a session reaches the servers on this machine too';

export interface SandboxCheck {
  status: 'ok' | 'warn' | 'fail';
  found: string;
  next?: string;
}

/** Runs a program in a sandbox, as the worker of this data folder would. */
export async function checkSandbox(dataDir: string): Promise<SandboxCheck> {
  let isOff = false;
  let standIn: string | undefined;
  try {
    const folder = recordedWorkdir(dataDir) ?? usualWorkingFolder(dataDir);
    // Before the first worker: a folder of its own, because `/tmp` itself may contain the home folder.
    if (!existsSync(folder)) standIn = mkdtempSync(join(tmpdir(), 'holdfast-doctor-'));
    const source = workersSource(dataDir);
    const configuration = readConfiguration(source);
    const { sandbox } = configuration;
    isOff = sandbox.mode === 'off';
    const exposed = exposedNow({ dataDir });
    refuseExposedParts(configuration, exposed);
    refuseExposed(moduleFiles(recordedTools(dataDir)), exposed);
    const loaded = loadedPlaces(configuration, source.file, exposed);
    const places = { workspace: standIn ?? folder, home: homedir(), dataDir, loaded };
    const trial = await trySandbox(sandbox, places);
    if (!trial.profile) return without(sandbox.mode, trial.reason);
    return withSandbox(sandbox, trial.profile);
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    // A fault in a sandbox that is switched off prevents nothing.
    return { status: isOff ? 'warn' : 'fail', found: err.message, next: err.next };
  } finally {
    if (standIn) rmSync(standIn, { recursive: true });
  }
}

function without(mode: SandboxChoice['mode'], reason: string): SandboxCheck {
  const status = mode === 'required' ? 'fail' : 'warn';
  const next = 'install bubblewrap 0.8 or newer, and allow this user to create user namespaces';
  return { status, found: `none available: ${reason}; ${WITHOUT}`, next };
}

function withSandbox({ mode, network }: SandboxChoice, profile: SandboxProfile): SandboxCheck {
  if (mode === 'off') {
    const next = 'set `mode = "required"` under `[sandbox]` in holdfast.toml';
    return { status: 'warn', found: `bubblewrap works but is off; ${WITHOUT}`, next };
  }
  const limits = limitsProcesses(profile)
    ? 'all limits apply'
    : 'all limits apply except that on processes, which the kernel does not count for root';
  const reached = typeof network === 'string' ? network : `to ${network.join(', ')}`;
  const programs = Object.values(profile.programs).join(', ');
  const found = `bubblewrap, network ${reached}; ${limits}; run outside it: ${programs}`;
  return network === 'full'
    ? { status: 'warn', found: `${found}; ${WITH_NETWORK}` }
    : { status: 'ok', found };
}
