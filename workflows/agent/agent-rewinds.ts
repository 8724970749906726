// An agent's `rewind`: brings back files, the conversation or both, between two turns. Recorded as a step of its own.
import { CancellationScope, condition } from '@temporalio/workflow';
import type { AgentSettings } from '../../contracts/schemas/agent';
import type { Message } from '../../contracts/agents/agent';
import { visibleMessages } from '../../contracts/agents/visible-messages';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { toFailure } from '../../contracts/errors/failure';
import { hostNameOf } from '../../contracts/ids';
import { label } from '../../contracts/text/labels';
import type { RewoundWorkspace } from '../../contracts/workspaces/requests-to-hosts';
import { changedIn } from '../../contracts/workspaces/change-texts';
import { planRewind, type RewindPlan } from '../../contracts/workspaces/conversation-steps';
import type { RewindRequest } from '../../contracts/schemas/agent';
import type { RewindResult } from '../../contracts/workspaces/rewinds';
import { rewindOn } from '../host/begun-rewinds';
import { DELIVERY_MS } from '../host/host-activities';
import { workspacesOn } from '../turn/calls/tool-activities';
import { takeCheckpoint } from '../turn/turn-checkpoints';
import { refuse } from '../messages/refusal';

type RewindMessage = Extract<Message, { role: 'rewind' }>;

interface Rewindable {
  agent: string;
  settings: AgentSettings;
  transcript: { messages: readonly Message[]; push: (message: Message) => void };
  /** What it is doing, if that is not waiting for a message. */
  busyWith: () => string | undefined;
  /** Why it no longer accepts messages; undefined while it does. */
  endReason: () => string | undefined;
  /** The number of the next step of the conversation. */
  nextStep: () => number;
  resetSessions: (reason: string) => Promise<void>;
}

export class AgentRewinds {
  /** Rewinds that are asked for and not done: no turn begins meanwhile, and each waits for the one before it. */
  private asked = 0;
  private before: Promise<unknown> = Promise.resolve();
  private cut: { turn: number; step: number } | null = null;

  constructor(private readonly of: Rewindable) {}

  get isRewinding(): boolean {
    return this.asked > 0;
  }

  /** One that has begun is to be recorded. */
  get delayEnd(): boolean {
    return this.isRewinding;
  }

  /** Of the turn that has just ended. Until it has a checkpoint, what it did to files looks like somebody else's. */
  cutOff(turn: number, step: number | undefined): void {
    this.cut = step === undefined ? null : { turn, step };
  }

  /** Whether that waits for `recordCutStep`; rewinds wait for it, too. */
  get hasCutStep(): boolean {
    return this.cut !== null;
  }

  /** Once what ran in it has ended. */
  async recordCutStep(): Promise<void> {
    const { agent, settings, transcript } = this.of;
    if (this.cut) transcript.push(await takeCheckpoint({ agent, settings, ...this.cut }));
    this.cut = null;
  }

  /** Throws `agent_working`, `invalid_input`, `no_checkpoint`, `workspace_changed`; then nothing was changed. */
  async rewind(request: RewindRequest, id: string): Promise<RewindResult> {
    const busy = this.of.busyWith();
    if (busy !== undefined && !this.find(id)) refuse('agent_working', { agent: this.of.agent, what: busy });
    this.asked += 1;
    const rewound = this.before.then(() => this.once(request, id));
    this.before = rewound.catch(() => undefined);
    try {
      return await rewound;
    } catch (err) {
      throw err instanceof HoldfastError ? toFailure(err) : err;
    } finally {
      this.asked -= 1;
    }
  }

  private async once(request: RewindRequest, id: string): Promise<RewindResult> {
    const done = this.find(id);
    if (done) return answerAgain(done, request, id);
    const isRecorded = (): boolean => this.cut === null || this.of.endReason() !== undefined;
    if (!isRecorded()) await CancellationScope.nonCancellable(() => condition(isRecorded));
    // It was asked for before the stop, and waited for another one.
    const reason = this.of.endReason();
    if (reason !== undefined) refuse('agent_closed', { reason });
    // A stop in the middle must not leave files that the conversation knows nothing of.
    return CancellationScope.nonCancellable(() => this.carryOut(request, id));
  }

  private find(id: string): RewindMessage | undefined {
    const found = this.of.transcript.messages.find((one) => one.role === 'rewind' && one.id === id);
    return found?.role === 'rewind' ? found : undefined;
  }

  private async carryOut(request: RewindRequest, id: string): Promise<RewindResult> {
    const { to, what = 'both', dryRun = false, stop = false } = request;
    const { transcript } = this.of;
    const plan = planRewind(transcript.messages, to);
    if (stop && !dryRun) {
      // One that is refused then ends nothing.
      if (what !== 'conversation') await this.files({ ...request, dryRun: true }, plan, id);
      await this.of.resetSessions(`rewind to step ${to}`);
    }
    const rewound = what === 'conversation' ? null : await this.files(request, plan, id);
    const keeps = what === 'files' ? undefined : plan.keeps;
    const messages = keeps === undefined ? null : this.hidden(keeps);
    const answer = { to, files: rewound?.files ?? null, messages, running: rewound?.running ?? [] };
    if (dryRun) return { step: null, ...answer };
    const step = this.of.nextStep();
    const files = rewound && {
      hash: rewound.files.hash,
      before: rewound.files.before,
      counts: rewound.files.changes.counts,
      ...(rewound.files.notRestored && { notRestored: rewound.files.notRestored.count }),
      ...(rewound.files.movedAside && { movedAside: rewound.files.movedAside.count }),
    };
    const recorded = { step, to, id, ...(keeps !== undefined && { keeps }), ...(files && { files }) };
    transcript.push({ role: 'rewind', ...recorded });
    return { step, ...answer };
  }

  private async files(
    { to, dryRun = false, force = false }: RewindRequest,
    { hash, expected, foreign }: RewindPlan,
    key: string,
  ): Promise<RewoundWorkspace> {
    const { agent, settings } = this.of;
    if (hash === null) throw new HoldfastError('no_checkpoint', { got: `step ${to}`, allowed: NO_FILES });
    const host = hostNameOf(settings);
    const { rewindWorkspace } = workspacesOn(host, {
      scheduleToStartTimeout: DELIVERY_MS,
      startToCloseTimeout: '1 hour',
      retry: { initialInterval: '200ms', maximumInterval: '5s' },
    });
    const asked = { agent, key, cwd: settings.cwd ?? null, to: hash, expected, foreign, force, dryRun };
    const summary = label(`${dryRun ? 'what a rewind would change' : 'rewind the files'}: to step ${to}`);
    return rewindOn(
      host,
      () => rewindWorkspace.executeWithOptions({ summary }, [asked]),
      () => this.of.endReason() !== undefined,
    );
  }

  /** How many messages the model no longer sees. */
  private hidden(keeps: number): number {
    const { messages } = this.of.transcript;
    const after = visibleMessages(messages.slice(0, keeps)).length;
    return Math.max(0, visibleMessages(messages).length - after);
  }
}

const NO_FILES =
  'another step, or the conversation alone (`--conversation`), since what the files were then is not known';

/** What was recorded; the paths are not kept. */
function answerAgain(
  { step, to, keeps, files }: RewindMessage,
  request: RewindRequest,
  id: string,
): RewindResult {
  if (request.to !== to) refuse('id_conflict', { got: id });
  const what = keeps === undefined ? 'files' : files ? 'both' : 'conversation';
  if ((request.what ?? 'both') !== what) refuse('id_conflict', { got: id });
  const changes = files && { counts: files.counts, paths: [], omitted: changedIn(files.counts) };
  return {
    step,
    to,
    files:
      files && changes
        ? {
            ...{ hash: files.hash, before: files.before, changes },
            ...(files.notRestored !== undefined && { notRestored: { count: files.notRestored, first: [] } }),
            ...(files.movedAside !== undefined && { movedAside: { count: files.movedAside, first: [] } }),
          }
        : null,
    messages: keeps === undefined ? null : 0,
    running: [],
  };
}
