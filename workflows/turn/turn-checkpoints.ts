// The checkpoints of a turn: one before its first step that may change files, and one after each. A step's checkpoint is
// taken while the model is asked, and recorded before its reply.
import { isCancellation } from '@temporalio/workflow';
import type { Message, TurnInput } from '../../contracts/agents/agent';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { fromFailure } from '../../contracts/errors/failure';
import { hostNameOf } from '../../contracts/ids';
import { label } from '../../contracts/text/labels';
import type { CheckpointOutcome } from '../../contracts/workspaces/checkpoints';
import { DELIVERY_MS, hostFailure } from '../host/host-activities';
import { workspacesOn } from './calls/tool-activities';

type CheckpointMessage = Extract<Message, { role: 'checkpoint' }>;

/** A workspace that takes longer has none this time: a slow disk is not waited for for ever. */
const CHECKPOINT_TIMEOUT = '2 minutes';

export class TurnCheckpoints {
  private pending: Promise<CheckpointMessage> | null = null;
  /** The step that may have changed files since the last checkpoint. */
  openStep: number | undefined;

  constructor(
    private readonly input: TurnInput,
    private readonly transcript: { messages: readonly Message[]; push: (message: Message) => void },
  ) {}

  /** Before a step that may change files: only the first of a turn needs it. */
  async before(step: number): Promise<void> {
    if (!this.last) this.transcript.push(await takeCheckpoint({ ...this.input, step, before: true }));
    this.openStep = this.isOff ? undefined : step;
  }

  /** After such a step, without waiting for it: `settled` does. */
  after(step: number): void {
    if (this.isOff) return;
    this.pending = takeCheckpoint({ ...this.input, step });
    // A turn that is stopped does not wait for it.
    this.pending.catch(() => undefined);
  }

  get isPending(): boolean {
    return this.pending !== null;
  }

  async settled(): Promise<void> {
    const { pending } = this;
    this.pending = null;
    if (!pending) return;
    this.transcript.push(await pending);
    this.openStep = undefined;
  }

  private get isOff(): boolean {
    return this.last?.outcome.state === 'off';
  }

  private get last(): CheckpointMessage | undefined {
    const last = this.transcript.messages.findLast(({ role }) => role === 'checkpoint');
    return last?.role === 'checkpoint' ? last : undefined;
  }
}

interface CheckpointOfStep extends Pick<TurnInput, 'agent' | 'turn' | 'settings'> {
  step: number;
  before?: true;
}

/** Fails for nothing but a cancellation: the message says why there is none. */
export async function takeCheckpoint({
  agent,
  turn,
  settings,
  step,
  before,
}: CheckpointOfStep): Promise<CheckpointMessage> {
  const host = hostNameOf(settings);
  const { checkpointWorkspace } = workspacesOn(host, {
    scheduleToStartTimeout: DELIVERY_MS,
    startToCloseTimeout: CHECKPOINT_TIMEOUT,
    retry: { maximumAttempts: 3, initialInterval: '200ms' },
  });
  const of = before ? { before } : {};
  const summary = label(`checkpoint ${before ? 'before' : 'after'} step ${step}`);
  const outcome = await checkpointWorkspace
    .executeWithOptions({ summary }, [{ agent, cwd: settings.cwd ?? null, ...of }])
    .catch((err: unknown) => missing(err, host));
  return { role: 'checkpoint', turn, step, ...of, outcome };
}

/** The step goes on without: a checkpoint is no reason to lose its results. */
function missing(err: unknown, host: string): CheckpointOutcome {
  if (isCancellation(err)) throw err;
  const known = fromFailure(hostFailure(err, host));
  return { state: 'missing', reason: known instanceof HoldfastError ? known.message : reasonOf(err) };
}
