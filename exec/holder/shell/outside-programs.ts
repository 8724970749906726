// The programs that a holder runs outside of its session's sandbox. The worker locates them once and passes them in the
// session's configuration, so a session cannot affect them by changing a PATH.
import type { OutsidePrograms } from '../../sandbox/profile';

type Name = 'mkfifo' | 'stty';

const places: Record<Name, string> = { mkfifo: 'mkfifo', stty: 'stty' };

/** Call once, before any of them runs. Without a sandbox the host's PATH is good enough. */
export function useOutsidePrograms(programs: OutsidePrograms | undefined): void {
  for (const name of ['mkfifo', 'stty'] as const) places[name] = programs?.[name] ?? places[name];
}

export const outsideProgram = (name: Name): string => places[name];
