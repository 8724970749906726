// Orders of events that broke a guarantee, as the simulation found them: each with the guard that it was found without.
import type { Schedule, Step } from './schedules/schedule';

export interface Story {
  name: string;
  /** Of a planted fault. */
  without: string;
  schedule: Schedule;
}

/** Lets so many things happen, each the one that has waited for longest. */
const go = (count: number): Step => ({ do: 'go', picks: Array.from({ length: count }, () => 0) });

const storyOf = (name: string, without: string, steps: Step[]): Story => ({
  ...{ name, without },
  schedule: { seed: 0, weight: 1, suggestAt: Infinity, steps },
});

export const STORIES: readonly Story[] = [
  storyOf(
    'a command is asked for again under its id while another one runs',
    'a command that was sent before is answered, whatever runs now',
    [
      { do: 'exec', session: 0, id: 'first', code: 'quick #1' },
      go(20),
      { do: 'exec', session: 0, id: 'second', code: 'long #2' },
      go(12),
      { do: 'exec-again', which: 0, isSameUpdate: false },
      go(20),
    ],
  ),
  storyOf(
    'a session is cancelled while its host is asked for output',
    'a cancelled session waits for what its host does',
    [
      { do: 'exec', session: 0, id: 'command', code: 'long #1' },
      go(12),
      { do: 'output', session: 0, id: 'look', waits: true },
      go(3),
      { do: 'cancel', session: 0 },
      go(20),
    ],
  ),
  storyOf(
    'a script is approved, and its packages are installed before it runs',
    'a person is not asked again about a script whose packages were installed meanwhile',
    [
      { do: 'exec', session: 0, id: 'command', code: 'imports risky #2' },
      go(11),
      { do: 'decide', which: 0, id: 'yes', approve: true, hash: 'shown', lasting: false },
      go(30),
    ],
  ),
];
