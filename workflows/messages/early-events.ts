// Keeps what only a workflow task may hand out from coming with a query. A query that waited while there was no worker brings
// the events since the last task along, and the SDK hands them to the workflow at once. The commands that follow then stand
// in history before the messages of the next task. A replay takes messages first, so it fails: the workflow could never go
// on. Such a query fails instead, which makes the worker forget the workflow, and is asked again.
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { ASKED_TOO_EARLY } from '../../contracts/messages/message';

type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;
type Activation = Parameters<Activate>[0]['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** These answer, or end, what is there. */
const isEvent = ({ queryWorkflow, removeFromCache }: Job): boolean => !queryWorkflow && !removeFromCache;

class EarlyEvents implements WorkflowInternalsInterceptor {
  private events = 0;
  /** Of the last task that was begun; undefined before the first. */
  private taskAt: string | undefined;

  activate: Activate = (input, next) => {
    const { jobs, isReplaying, historyLength, timestamp } = input.activation;
    if (jobs?.some(isEvent)) {
      const [events, taskAt] = [historyLength ?? 0, JSON.stringify(timestamp)];
      // Each task has a time of its own, and its beginning is an event.
      if (!isReplaying && events > this.events && taskAt === this.taskAt) throw new Error(ASKED_TOO_EARLY);
      [this.events, this.taskAt] = [events, taskAt];
    }
    next(input);
  };
}

/** For Temporal's bundler. */
export const interceptors = (): WorkflowInterceptors => ({ internals: [new EarlyEvents()] });
