// A server that knows workflows in states that a real one cannot be brought to, and that another can replace at once.
import type { Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import { temporal } from '@temporalio/proto';

const { WorkflowExecutionStatus: STATUS } = temporal.api.enums.v1;

interface Execution extends Pick<FakeWorkflow, 'runId'> {
  workflowId: string;
}

interface FakeWorkflow {
  status: string;
  runId?: string;
  firstRunId?: string;
  startTime?: Date;
  closeTime?: Date;
  input?: object;
}

/** With workflows by id, or by id and run. */
export class FakeServer {
  readonly signals: string[] = [];
  histories = 0;
  clusterId = 'c';
  /** Called before it describes a workflow. */
  onDescribe = (): void => undefined;

  constructor(readonly workflows: Record<string, FakeWorkflow | undefined>) {}

  readonly client = {
    options: { namespace: 'default', loadedDataConverter: defaultDataConverter },
    workflow: {
      getHandle: (workflowId: string) => ({
        signal: async (name: string) => void this.signals.push(`${workflowId} ${name}`),
      }),
    },
    workflowService: {
      getClusterInfo: async () => ({ clusterId: this.clusterId }),
      describeWorkflowExecution: async ({ execution }: { execution: Execution }) => this.describe(execution),
      getWorkflowExecutionHistoryReverse: async () => ({}),
      getWorkflowExecutionHistory: async ({ execution }: { execution: { workflowId: string } }) => {
        this.histories += 1;
        const payload = defaultPayloadConverter.toPayload(this.workflows[execution.workflowId]?.input ?? {});
        const workflowExecutionStartedEventAttributes = { input: { payloads: [payload] } };
        return { history: { events: [{ workflowExecutionStartedEventAttributes }] } };
      },
    },
  } as unknown as Client;

  private describe({ workflowId, runId: run }: Execution): object {
    this.onDescribe();
    const found = this.workflows[run ? `${workflowId}#${run}` : workflowId];
    if (!found)
      throw Object.assign(new Error('not found'), {
        code: 5,
        details: 'not found',
        metadata: {},
      });
    const { status, firstRunId, runId = 'run', startTime = at(0), closeTime } = found;
    return {
      workflowExecutionInfo: {
        ...{ execution: { workflowId, runId }, type: { name: 'any' }, status: codeOf(status), firstRunId },
        ...{ historyLength: { toNumber: () => 1 }, startTime: msToTs(startTime.getTime()) },
        ...(closeTime && { closeTime: msToTs(closeTime.getTime()) }),
      },
    };
  }
}

/** One of the future is an unknown number. */
const codeOf = (status: string): number =>
  Number(new Map<string, unknown>(Object.entries(STATUS)).get(`WORKFLOW_EXECUTION_STATUS_${status}`) ?? 99);

export const at = (minute: number): Date => new Date(Date.UTC(2030, 0, 1, 0, minute));
