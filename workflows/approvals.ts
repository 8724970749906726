// What waits for somebody's yes or no, in a session or a turn: asked once, answered by signal or update, over
// continue-as-new and worker deaths.
import { condition, defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import type {
  Approval,
  ApprovalsRecord,
  ApprovalsRequest,
  ApproveRequest,
  DenyRequest,
  Hold,
  ShownValue,
} from '../contracts/approvals';
import { APPROVAL_MESSAGES } from '../contracts/messages';
import { ownValue, setOwn } from '../contracts/own';
import { approveSchema, denySchema } from '../contracts/schemas/approvals';
import { cutValues } from '../contracts/shown-values';
import { approvalDetails } from './approval-labels';
import { messageGuard } from './message-guard';
import { checked, refuse } from './refusal';

export const approveUpdate = defineUpdate<Approval, [ApproveRequest?]>(APPROVAL_MESSAGES.approve);
export const denyUpdate = defineUpdate<Approval, [DenyRequest?]>(APPROVAL_MESSAGES.deny);
export const approveSignal = defineSignal<[ApproveRequest?]>(APPROVAL_MESSAGES.approve);
export const denySignal = defineSignal<[DenyRequest?]>(APPROVAL_MESSAGES.deny);
export const approvalsQuery = defineQuery<Approval[], [ApprovalsRequest?]>(APPROVAL_MESSAGES.approvals);

export interface Question extends Hold {
  /** The same id again is the same question. */
  id: string;
  what: string;
  agent: string;
  runs: string;
  /** Whole. */
  values: readonly ShownValue[];
}

export const newApprovals = (): ApprovalsRecord => ({ waiting: [], answers: {}, cleared: [] });

export class Approvals {
  /** Of what waits, nothing cut: asked again after continue-as-new, it comes again. */
  private readonly whole = new Map<string, readonly ShownValue[]>();

  /** @param changed is called when something begins or ends to wait, for what the page shows */
  constructor(
    readonly record: ApprovalsRecord,
    private readonly changed: () => void,
  ) {}

  get waiting(): readonly Approval[] {
    return this.record.waiting;
  }

  /** Resolves when it is approved. Throws `approval_denied` and `approval_expired`. */
  async ask(question: Question): Promise<void> {
    const { id, hash, reasons, expiresMs, values } = question;
    const { record } = this;
    if (reasons.every(({ rule }) => record.cleared.includes(rule))) return;
    const now = Date.now();
    const askedAt = new Date(now).toISOString();
    const expiresAt = new Date(now + expiresMs).toISOString();
    let asked = record.waiting.find((one) => one.id === id);
    // It was asked before continue-as-new, and is to run in another folder by now.
    if (asked && asked.hash !== hash) {
      this.forget((one) => one === id);
      asked = undefined;
    }
    if (!asked && !this.answered(id)) {
      const { what, agent, runs, place } = question;
      const shown = { agent, runs, ...(place && { place }), values: cutValues(values) };
      asked = { id, what, hash, reasons, askedAt, expiresAt, ...shown };
      record.waiting.push(asked);
    }
    this.whole.set(id, values);
    this.changed();
    const leftMs = Math.max(0, Date.parse(asked?.expiresAt ?? expiresAt) - now);
    const isOfIt = (): boolean => ownValue(record.answers, id) !== undefined;
    let answer: ApprovalsRecord['answers'][string] | undefined;
    try {
      if (await condition(isOfIt, Math.max(1, leftMs))) answer = ownValue(record.answers, id);
    } finally {
      // Also where whoever asks is cancelled: a question of nobody would wait for ever.
      this.forget((one) => one === id);
    }
    const rules = reasons.map(({ rule }) => rule).join(', ');
    if (!answer) return refuse('approval_expired', { waitedMs: expiresMs, reasons: rules });
    if (!answer.approved)
      refuse('approval_denied', { reason: answer.reason ?? rules, by: answer.by ?? undefined });
  }

  /** After continue-as-new: what nobody asks again waits no more. */
  keepOnly(isAsked: (id: string) => boolean): void {
    this.forget((id) => !isAsked(id));
  }

  private forget(isOver: (id: string) => boolean): void {
    const { record } = this;
    record.waiting = record.waiting.filter(({ id }) => !isOver(id));
    record.answers = Object.fromEntries(Object.entries(record.answers).filter(([id]) => !isOver(id)));
    for (const id of this.whole.keys()) if (isOver(id)) this.whole.delete(id);
    this.changed();
  }

  /** Throws `approval_unknown` and `approval_changed`. */
  check(request: { id?: string; hash?: string }): Approval {
    const { id, hash } = request;
    const open = this.record.waiting.filter((one) => !this.answered(one.id));
    const found = id === undefined && open.length === 1 ? open[0] : open.find((one) => one.id === id);
    const allowed = open.map((one) => one.id).join(', ') || 'none: nothing waits';
    if (!found) return refuse('approval_unknown', { got: id ?? 'no id', allowed });
    if (hash !== undefined && hash !== found.hash)
      return refuse('approval_changed', { got: hash, allowed: found.hash });
    return found;
  }

  private answered(id: string): boolean {
    return ownValue(this.record.answers, id) !== undefined;
  }

  /** Throws as `check`, and `approval_needs_hash`: an approval that names nothing is for whatever waits by then. */
  checkApproval(request: { id?: string; hash?: string }): Approval {
    const found = this.check(request);
    if (request.hash === undefined && messageGuard.demandsSeals)
      return refuse('approval_needs_hash', { allowed: found.hash });
    return found;
  }

  approve(request: ApproveRequest | undefined): Approval {
    const { scope = 'once', by = null, ...which } = checked(approveSchema, 'The approval', request);
    const found = this.checkApproval(which);
    setOwn(this.record.answers, found.id, { approved: true, by, reason: null });
    if (scope === 'session') {
      const rules = found.reasons.map(({ rule }) => rule);
      this.record.cleared = [...new Set([...this.record.cleared, ...rules])];
      // What else waits for the same is answered with it.
      for (const other of this.record.waiting)
        if (other.reasons.every(({ rule }) => this.record.cleared.includes(rule)) && !this.answered(other.id))
          setOwn(this.record.answers, other.id, { approved: true, by, reason: null });
    }
    return found;
  }

  deny(request: DenyRequest | undefined): Approval {
    const { by = null, reason = null, ...which } = checked(denySchema, 'The refusal', request);
    const found = this.check(which);
    setOwn(this.record.answers, found.id, { approved: false, by, reason });
    return found;
  }

  /** Nobody waits for an answer any more. */
  denyAll(reason: string): void {
    for (const { id } of this.record.waiting)
      if (!this.answered(id)) setOwn(this.record.answers, id, { approved: false, by: null, reason });
  }

  /** All of one, nothing cut; all of them, long values cut. */
  show({ id }: ApprovalsRequest = {}): Approval[] {
    if (id === undefined) return [...this.waiting];
    const values = this.whole.get(id);
    return this.waiting
      .filter((one) => one.id === id)
      .map((one) => ({ ...one, ...(values && { values: [...values] }) }));
  }

  /** What the page of the session or the turn shows of it, in Markdown. */
  details(): string {
    return approvalDetails(this.waiting);
  }
}

/** @param refused takes what is amiss with a signal: nobody else is told */
export function listenToApprovals(approvals: Approvals, refused: (err: unknown) => void): void {
  const signalled = (work: () => unknown): void => {
    try {
      work();
    } catch (err) {
      refused(err);
    }
  };
  setHandler(approveUpdate, (request?: ApproveRequest) => approvals.approve(request), {
    validator: (request?: ApproveRequest) => {
      const { id, hash } = checked(approveSchema, 'The approval', request);
      approvals.checkApproval({ ...(id !== undefined && { id }), ...(hash !== undefined && { hash }) });
    },
    description: 'Say yes to what waits: {"id":"…","hash":"…"}, with "scope":"session" for all of the kind',
  });
  setHandler(denyUpdate, (request?: DenyRequest) => approvals.deny(request), {
    validator: (request?: DenyRequest) => {
      const { id } = checked(denySchema, 'The refusal', request);
      approvals.check({ ...(id !== undefined && { id }) });
    },
    description: 'Say no to what waits: {} or {"id":"…","reason":"not here"}',
  });
  setHandler(approveSignal, (request?: ApproveRequest) => signalled(() => approvals.approve(request)), {
    description: 'Say yes to what waits: {"id":"…","hash":"…"}, with "scope":"session" for all of the kind',
  });
  setHandler(denySignal, (request?: DenyRequest) => signalled(() => approvals.deny(request)), {
    description: 'Say no to what waits: {} or {"id":"…","reason":"not here"}',
  });
  setHandler(approvalsQuery, (request?: ApprovalsRequest) => approvals.show(request ?? {}), {
    description: 'What waits for an approval: {}, or {"id":"…"} for all of one, however long it is',
  });
}
