// The sandbox of a test's host. `HOLDFAST_TEST_SANDBOX=1` puts the sessions of every test that opens terminals in one.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NO_SANDBOX, tryBubblewrap, type Trial } from '../../../exec/sandbox/open-sandbox';
import type { SandboxProfile, SandboxSettings } from '../../../exec/sandbox/profile';
import type { StubFolder } from '../../../exec/host/stub-folder';

/** `home`: default that of the user who runs the tests. */
export type TestSandbox = Partial<SandboxSettings> & { home?: string; loaded?: readonly string[] };

interface Places {
  cwd: string;
  dataDir: string;
  stubs?: StubFolder | undefined;
}

/** Throws if this machine has none. */
export function sandboxOf(settings: TestSandbox, { cwd, dataDir, stubs }: Places): SandboxProfile {
  const trial = tryHere(settings, { cwd, dataDir, stubs });
  if (!trial.profile) throw new Error(trial.reason);
  return trial.profile;
}

/** Why this machine cannot have one; undefined if it can. */
export function noSandbox(): string | undefined {
  // Not the temporary folder itself: the home folder may lie in it, and then it may not be writable.
  const cwd = mkdtempSync(join(tmpdir(), 'holdfast-trial-'));
  try {
    return tryHere({}, { cwd, dataDir: join(cwd, 'none') }).reason;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** Asked for the whole run. */
export const sandboxOfRun = (): TestSandbox | undefined =>
  process.env.HOLDFAST_TEST_SANDBOX ? {} : undefined;

function tryHere(
  { home = homedir(), loaded, ...settings }: TestSandbox,
  { cwd, dataDir, stubs }: Places,
): Trial {
  const python = join(homedir(), '.pyenv');
  const readable = [...(existsSync(python) ? [python] : []), ...(settings.readable ?? [])];
  const places = { workspace: cwd, home, dataDir, stubs: stubs && dirname(stubs.folder), loaded };
  return tryBubblewrap({ ...NO_SANDBOX, ...settings, readable }, places);
}
