// Keeps what only a workflow task may hand out from coming with a query. A query that waited while there was no worker brings
// the events since the last task along, and the SDK hands them to the workflow at once. The commands that follow then stand
// in history before the messages of the next task. A replay takes messages first, so it fails: the workflow could never go
// on. Here such events reach nothing, and the query fails, which makes the worker forget the workflow; it is asked again.
// A workflow that was terminated has no next task: queries that know that are answered from what it did.
import type { WorkflowInterceptors, WorkflowInternalsInterceptor } from '@temporalio/workflow';
import { AFTER_END, ASKED_TOO_EARLY } from '../../contracts/messages/message';

type Activate = NonNullable<WorkflowInternalsInterceptor['activate']>;
type Activation = Parameters<Activate>[0]['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** These answer, or end, what is there. */
const isEvent = ({ queryWorkflow, removeFromCache }: Job): boolean => !queryWorkflow && !removeFromCache;

class EarlyEvents implements WorkflowInternalsInterceptor {
  private events = 0;
  /** The last task that was begun; undefined before the first. */
  private task: string | undefined;
  /** The worker holds some for taken: what it hands out from now on misses them. */
  private hasWithheld = false;

  activate: Activate = (input, next) => {
    const { jobs, isReplaying, historyLength, timestamp, historySizeBytes } = input.activation;
    if (jobs?.some(isEvent)) {
      const events = historyLength ?? 0;
      // Both come with the beginning of a task, which is an event. A server's clock may be set back: the size grows.
      const task = JSON.stringify([timestamp, historySizeBytes]);
      if (!isReplaying && events > this.events && task === this.task) {
        this.hasWithheld = true;
        return;
      }
      [this.events, this.task] = [events, task];
      if (this.hasWithheld) throw new Error(ASKED_TOO_EARLY);
    }
    const areAfterEnd = jobs?.map(takesMark).every(Boolean);
    if (this.hasWithheld && !areAfterEnd) throw new Error(ASKED_TOO_EARLY);
    next(input);
  };
}

/** Takes the mark off a query, and says whether it was there; true for what is no query. */
function takesMark({ queryWorkflow }: Job): boolean {
  if (!queryWorkflow) return true;
  const name = queryWorkflow.queryType ?? '';
  if (!name.endsWith(AFTER_END)) return false;
  queryWorkflow.queryType = name.slice(0, -AFTER_END.length);
  return true;
}

/** For Temporal's bundler. */
export const interceptors = (): WorkflowInterceptors => ({ internals: [new EarlyEvents()] });
