// Reads the histories of a workflow's runs, within a budget that all reads of one question share.
import type { Client } from '@temporalio/client';
import { grpcCode, NOT_FOUND } from '../delivery/grpc-code';
import { millisecondsOf, type Timestamp } from '../timestamp';

type Page = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
/** temporal.api.history.v1.HistoryEvent */
export type HistoryEvent = NonNullable<NonNullable<Page['history']>['events']>[number];

export interface RunRef {
  client: Client;
  workflowId: string;
  runId: string;
}

export interface Run extends RunRef {
  events: HistoryEvent[];
}

/** How many events may still be read; what exceeds it is left out, and says so. */
export class Budget {
  /** Something was left out. */
  isExceeded = false;

  constructor(private events: number) {}

  get left(): number {
    return this.events;
  }

  /** The part of `events` that it has room for. */
  take(events: HistoryEvent[]): HistoryEvent[] {
    const taken = events.slice(0, Math.max(0, this.events));
    if (taken.length < events.length) this.isExceeded = true;
    this.events -= taken.length;
    return taken;
  }
}

const PAGE_EVENTS = 500;

/** One run. A run that the server no longer has, or that there is no room for, has no events. */
export async function readRun({ client, workflowId, runId }: RunRef, budget: Budget): Promise<Run> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const execution = { workflowId, runId };
  const events: HistoryEvent[] = [];
  let nextPageToken: Uint8Array | null | undefined;
  do {
    if (budget.left <= 0) {
      budget.isExceeded = true;
      break;
    }
    const maximumPageSize = PAGE_EVENTS;
    const request = { namespace, execution, maximumPageSize, ...(nextPageToken && { nextPageToken }) };
    const page: Page | undefined = await workflowService
      .getWorkflowExecutionHistory(request)
      .catch((err: unknown) => {
        if (grpcCode(err) !== NOT_FOUND) throw err;
        budget.isExceeded = true;
        return undefined;
      });
    events.push(...budget.take(page?.history?.events ?? []));
    nextPageToken = page?.nextPageToken;
  } while (nextPageToken && nextPageToken.length > 0);
  return { client, workflowId, runId, events };
}

/** The run and those that it continues, newest first: what is cut off is the oldest. */
export async function readRunsBefore(newest: RunRef, budget: Budget): Promise<Run[]> {
  const runs: Run[] = [];
  for (let runId: string | null | undefined = newest.runId; runId && budget.left > 0;) {
    const run: Run = await readRun({ ...newest, runId }, budget);
    if (run.events.length === 0) break;
    runs.push(run);
    runId = run.events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId;
    if (runId && budget.left <= 0) budget.isExceeded = true;
  }
  return runs;
}

/** The run and those that continue it, oldest first. */
export async function readRunsAfter(oldest: RunRef, budget: Budget): Promise<Run[]> {
  const runs: Run[] = [];
  for (let runId: string | null | undefined = oldest.runId; runId;) {
    const run: Run = await readRun({ ...oldest, runId }, budget);
    if (run.events.length === 0) break;
    runs.push(run);
    runId = run.events.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return runs;
}

/** Milliseconds since 1970; events have a time. */
export const timeOf = (time: Timestamp | null | undefined): number => millisecondsOf(time) ?? 0;

export const numberOf = (event: HistoryEvent): number => Number(event.eventId);
