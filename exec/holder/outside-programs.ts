// The programs that a holder runs outside of the sandbox of its session. Their places are found by the worker once and
// come with the session's configuration: what a session does to a PATH changes nothing here.
import type { OutsidePrograms } from '../sandbox/profile';

type Name = 'mkfifo' | 'stty';

const places: Record<Name, string> = { mkfifo: 'mkfifo', stty: 'stty' };

/** From now on; call it once, before any of them is run. Without a sandbox the PATH of the host is as good. */
export function useOutsidePrograms(programs: OutsidePrograms | undefined): void {
  for (const name of ['mkfifo', 'stty'] as const) places[name] = programs?.[name] ?? places[name];
}

export const outsideProgram = (name: Name): string => places[name];
