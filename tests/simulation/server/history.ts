// The events of one run, as the server keeps them, named as Temporal names them.
import type { Command, Failure, Job } from './payloads';

export type EventType =
  | `WorkflowExecution${'Started' | 'Signaled' | 'CancelRequested' | 'Completed' | 'Failed' | 'Canceled'}`
  | `WorkflowExecution${'Terminated' | 'ContinuedAsNew' | 'UpdateAccepted' | 'UpdateCompleted'}`
  | `WorkflowTask${'Scheduled' | 'Started' | 'Completed' | 'Failed' | 'TimedOut'}`
  | `ActivityTask${'Scheduled' | 'Started' | 'Completed' | 'Failed' | 'TimedOut' | 'CancelRequested' | 'Canceled'}`
  | `Timer${'Started' | 'Fired' | 'Canceled'}`
  | `StartChildWorkflowExecution${'Initiated' | 'Failed'}`
  | `ChildWorkflowExecution${'Started' | 'Completed' | 'Failed' | 'Canceled' | 'Terminated'}`
  | `SignalExternalWorkflowExecution${'Initiated' | 'Failed'}`
  | 'ExternalWorkflowExecutionSignaled'
  | `RequestCancelExternalWorkflowExecution${'Initiated' | 'Failed'}`
  | 'ExternalWorkflowExecutionCancelRequested'
  | 'UpsertWorkflowSearchAttributes'
  | 'WorkflowPropertiesModified'
  | 'MarkerRecorded';

export interface HistoryEvent {
  id: number;
  type: EventType;
  at: number;
  /** What it means to the workflow; absent for what is news to nobody. */
  job?: Job | undefined;
  /** Of `WorkflowTaskStarted`: what the workflow is told of its history. */
  seen?: Seen | undefined;
  /** Of `WorkflowTaskCompleted`: what the worker answered. A replay has to answer the same. */
  answered?: Answered | undefined;
}

export interface Seen {
  historyLength: number;
  historyBytes: number;
  continueAsNewSuggested: boolean;
}

export interface Answered {
  /** The updates that the task brought and the workflow accepted. */
  updates: Job[];
  commands: Command[];
}

/** How a run ended. */
export type Closing =
  | { how: 'Completed'; result: unknown }
  | { how: 'Failed'; failure: Failure }
  | { how: 'Canceled' }
  | { how: 'Terminated'; reason: string }
  | { how: 'ContinuedAsNew'; next: string };
