// Commands in a host with a sandbox or without, as this user or as another: what probes of a sandbox are tried with.
import type { TestSandbox } from '../../../helpers/hosts/sandbox';
import { testHost } from '../../../helpers/terminals/session-host';
import { hostOfUser, USER_SESSION } from './host-of-user';

export interface Runner {
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
export const NAMED = { network: ['named.invalid:443'] };

export function asMe(sandboxHome: string | null, settings: TestSandbox = {}): Runner {
  const t = testHost({
    treeKill: 'process-search',
    sandbox: sandboxHome === null ? null : { home: sandboxHome, ...settings },
  });
  const reset = (): Promise<unknown> => t.host.reset(t.ref, again());
  return { workspace: t.cwd, run: (code) => t.run(code), reset, end: () => t.end() };
}

export const asMeWithNames: typeof asMe = (sandboxHome, settings) =>
  asMe(sandboxHome, { ...NAMED, ...settings });

export function asUser(sandboxHome: string | null, settings: TestSandbox = {}): Runner {
  const host = hostOfUser(sandboxHome === null ? 'process-search' : undefined, sandboxHome, settings);
  const run = async (code: string): Promise<void> => {
    await host.call('run', USER_SESSION, { id: `probe-${++commands}`, runtime: 'terminal', code });
    await host.call('observe', USER_SESSION, { kind: 'exit', from: 0, timeoutMs: 20_000 });
  };
  const reset = (): Promise<unknown> => host.call('reset', USER_SESSION, again());
  return { workspace: host.cwd, run, reset, end: () => host.end() };
}

export const asUserWithNames: typeof asUser = (sandboxHome, settings) =>
  asUser(sandboxHome, { ...NAMED, ...settings });
