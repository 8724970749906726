// What stands before the activities of a worker.
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { tracedActivity, type Tracing } from '../../activities/traced-activity';
import type { TaskJournal } from '../process/task-journal';

/** `tracing` is null if no traces are wanted. */
export const activityInterceptors = (
  journal: TaskJournal,
  tracing: Tracing | null,
): ActivityInterceptorsFactory[] => [
  (context) => journal.interceptor(context),
  ...(tracing ? [tracedActivity(tracing)] : []),
];
