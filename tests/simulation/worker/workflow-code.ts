// The workflow code as a worker runs it: the bundle of the build, in the runtime of Temporal's SDK. One V8 context serves all
// workflows, as it does in a worker. Core and server are what the simulation puts in their place.
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { TypedSearchAttributes } from '@temporalio/common';
import { ReusableVMWorkflowCreator } from '@temporalio/worker/lib/workflow/reusable-vm';
import type { Workflow, WorkflowCreateOptions } from '@temporalio/worker/lib/workflow/interface';
import { workflowBundle } from '../../../workers/workflow-bundle';

/** What one run is, as its workflow sees it. */
export interface RunFacts {
  workflowId: string;
  runId: string;
  workflowType: string;
  firstRunId: string;
  continuedFrom: string | undefined;
  parent: { workflowId: string; runId: string } | undefined;
  startedAt: number;
  runStartedAt: number;
}

type Info = WorkflowCreateOptions['info'];

/** Of errors that workflows make: each costs time, and there is none whose trace somebody reads. */
export const PREFIX = 'Error.stackTraceLimit = 0;';
export const BUNDLE_FILE = 'workflow-bundle.js';
const TASK_TIMEOUT_MS = 10_000;

export class WorkflowCode {
  private readonly creator: ReusableVMWorkflowCreator;

  constructor(code: string) {
    // No limit on the time of a call: the SDK has a thread of its own for each.
    const noLimit = undefined as unknown as number;
    const bundle = { code, filename: BUNDLE_FILE, sourceMap: NO_SOURCE_MAP };
    this.creator = new ReusableVMWorkflowCreator(
      new Script(PREFIX + code, { filename: BUNDLE_FILE }),
      bundle,
      noLimit,
      new Set(),
    );
  }

  create(facts: RunFacts): Promise<Workflow> {
    return this.creator.createWorkflow({
      info: infoOf(facts),
      randomnessSeed: [...facts.runId].map((character) => character.charCodeAt(0)),
      now: facts.runStartedAt,
      showStackTraceSources: false,
      failureExceptionTypeNames: [],
    });
  }
}

const NO_SOURCE_MAP = { version: 3, sources: [], names: [], mappings: '' } as never;

let shipped: WorkflowCode | undefined;

export const shippedText = (): string => readFileSync(workflowBundle(undefined).codePath, 'utf8');

/** That of the build; loading it takes half a second. */
export const shippedCode = (): WorkflowCode => (shipped ??= new WorkflowCode(shippedText()));

function infoOf({
  workflowId,
  runId,
  workflowType,
  firstRunId,
  continuedFrom,
  parent,
  ...at
}: RunFacts): Info {
  return {
    ...{ workflowId, runId, workflowType, taskQueue: 'holdfast', namespace: 'default', attempt: 1 },
    ...{ searchAttributes: {}, typedSearchAttributes: new TypedSearchAttributes() },
    firstExecutionRunId: firstRunId,
    originalExecutionRunId: runId,
    continuedFromExecutionRunId: continuedFrom,
    parent: parent && { ...parent, namespace: 'default' },
    root: undefined,
    startTime: new Date(at.startedAt),
    runStartTime: new Date(at.runStartedAt),
    taskTimeoutMs: TASK_TIMEOUT_MS,
    ...{ historyLength: 0, historySize: 0, continueAsNewSuggested: false, suggestedContinueAsNewReasons: [] },
    ...{
      targetWorkerDeploymentVersionChanged: false,
      currentBuildId: '',
      currentDeploymentVersion: undefined,
    },
    unsafe: { now: () => 0, isReplaying: false, isReplayingHistoryEvents: false, random: NO_RANDOM },
  };
}

/** Set by the SDK inside of the sandbox. */
const NO_RANDOM = undefined as unknown as Info['unsafe']['random'];
