// Rewinds as the page asks for them: a look changes nothing, and a rewind whose answer was lost counts once.
import type { RewindResult, RewoundPart } from '../../contracts/workspaces/rewinds';
import { callApi, pathOf, problemOf, type ProblemText } from '../api/call-api';
import { once } from '../api/once';

export interface WantedRewind {
  /** The step whose end is brought back; 0: the beginning. */
  to: number;
  what: RewoundPart;
  force?: true;
  stop?: true;
}

/** What a rewind would do. */
export interface Outlook {
  result: RewindResult;
  /** Files that it would change were changed by somebody else: it is refused unless it is forced. */
  conflict: ProblemText | null;
}

export interface Rewinds {
  look: (wanted: WantedRewind) => Promise<Outlook>;
  rewind: (wanted: WantedRewind) => Promise<RewindResult>;
}

/**
 * Both throw `ApiProblem`.
 * @param said how many messages the person has sent: after another one the same rewind is meant anew
 */
export function useRewinds(agent: string, said: number): Rewinds {
  const path = `${pathOf('agents', agent)}/rewind`;
  const ask = (wanted: WantedRewind): Promise<RewindResult> =>
    callApi<RewindResult>('POST', path, { ...wanted, dryRun: true });
  return {
    look: async (wanted) => {
      try {
        return { result: await ask(wanted), conflict: null };
      } catch (err) {
        const conflict = problemOf(err);
        if (conflict.code !== 'workspace_changed') throw err;
        return { result: await ask({ ...wanted, force: true }), conflict };
      }
    },
    rewind: (wanted) => once<RewindResult>(path, wanted, said),
  };
}
