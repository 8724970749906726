// The trace that this process's code works for, and its way into messages: in Temporal's headers.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import type { ClientInterceptors, WorkflowClientInterceptor } from '@temporalio/client';
import type { DataConverter, Headers } from '@temporalio/common';
import { headersWith, NO_SPAN, type TraceContext } from '../../contracts/telemetry/trace';
import { sealing } from './sealing';

const current = new AsyncLocalStorage<TraceContext>();

/** Undefined: nothing is traced here. */
export const traceHere = (): TraceContext | undefined => current.getStore();

/** Runs `work` as part of a trace; its messages and what follows from them belong to it. */
export const inTrace = <T>(context: TraceContext, work: () => T): T => current.run(context, work);

/** A trace that begins with what is done in it. */
export const newTrace = (): TraceContext => ({ traceId: randomBytes(16).toString('hex'), spanId: NO_SPAN });

/** For Temporal's client. With `startsTraces`, a message that belongs to no trace begins one. */
export const messageInterceptors = (
  dataConverter: DataConverter | undefined,
  startsTraces = false,
  more: readonly WorkflowClientInterceptor[] = [],
): { interceptors: ClientInterceptors } => ({
  interceptors: {
    workflow: [...sealing(dataConverter), new TracedClient(startsTraces), ...more],
  },
});

/** Questions, such as queries, are not traced: they are asked all the time. */
class TracedClient implements WorkflowClientInterceptor {
  constructor(private readonly startsTraces: boolean) {}

  startWithDetails: NonNullable<WorkflowClientInterceptor['startWithDetails']> = (input, next) =>
    next({ ...input, headers: this.traced(input.headers) });

  signal: NonNullable<WorkflowClientInterceptor['signal']> = (input, next) =>
    next({ ...input, headers: this.traced(input.headers) });

  signalWithStart: NonNullable<WorkflowClientInterceptor['signalWithStart']> = (input, next) =>
    next({ ...input, headers: this.traced(input.headers) });

  startUpdate: NonNullable<WorkflowClientInterceptor['startUpdate']> = (input, next) =>
    next({ ...input, headers: this.traced(input.headers) });

  startUpdateWithStart: NonNullable<WorkflowClientInterceptor['startUpdateWithStart']> = (input, next) => {
    const headers = this.traced({});
    return next({
      ...input,
      workflowStartHeaders: { ...input.workflowStartHeaders, ...headers },
      updateHeaders: { ...input.updateHeaders, ...headers },
    });
  };

  private traced(headers: Headers): Headers {
    const context = traceHere() ?? (this.startsTraces ? newTrace() : undefined);
    return context ? headersWith(headers, context) : headers;
  }
}
