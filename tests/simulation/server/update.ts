// One update of a run on the server: from its admission to its outcome, and the callers that wait for that.
import type { Failure, Headers, Job } from './payloads';
import { payloadsOf } from './payloads';

export type UpdateOutcome =
  | { is: 'completed'; result: unknown }
  | { is: 'failed'; failure: Failure; wasAccepted: boolean }
  /** The run ended first, after it had accepted the update. */
  | { is: 'cut-off' }
  /** There is nobody to take it: ask the next run, if there is one. */
  | { is: 'not-taken' };

export interface UpdateRequest {
  id: string;
  name: string;
  args: readonly unknown[];
  headers?: Headers;
}

export class Update {
  state: 'admitted' | 'sent' | 'accepted' | 'over' = 'admitted';
  outcome: UpdateOutcome | undefined;
  private waiting: ((outcome: UpdateOutcome) => void)[] = [];

  constructor(readonly request: UpdateRequest) {}

  /** @param runValidator false for a replay, since it was accepted */
  job(runValidator: boolean): Job {
    const { id, name, args, headers = {} } = this.request;
    return {
      doUpdate: { id, protocolInstanceId: id, name, input: payloadsOf(args), headers, runValidator },
    };
  }

  whenOver(answer: (outcome: UpdateOutcome) => void): void {
    if (this.outcome) answer(this.outcome);
    else this.waiting.push(answer);
  }

  end(outcome: UpdateOutcome): void {
    this.state = 'over';
    this.outcome = outcome;
    const { waiting } = this;
    this.waiting = [];
    for (const answer of waiting) answer(outcome);
  }
}
