// Pending approvals of a session or a turn: asked once, answered by signal or update, across continue-as-new and
// worker deaths.
import { condition, log } from '@temporalio/workflow';
import type { ApproveRequest, DenyRequest } from '../../contracts/schemas/approvals';
import type {
  Approval,
  ApprovalsRecord,
  ApprovalsRequest,
  Hold,
  ShownValue,
  ToolHold,
} from '../../contracts/tools/approvals';
import { APPROVAL_MESSAGES } from '../../contracts/messages/to-askers';
import { ownValue, setOwn } from '../../contracts/own';
import { cutValues } from '../../contracts/tools/shown-values';
import { approvalDetails } from './approval-labels';
import { messageGuard } from './message-guard';
import { Listener } from './listener';
import { refuse } from './refusal';

export interface Question extends Hold {
  /** Asking again with the same id is the same question. */
  id: string;
  what: string;
  agent: string;
  runs: string;
  /** Uncut. */
  values: readonly ShownValue[];
}

/** Of all that wait, which a query answers and the next run is given: each at most 2 MB. Later ones are cut shorter. */
const WAITING_CHARACTERS = 300_000;

/** What is approved, with when that was asked; for the tool that it lets run. */
export const withTime = (hold: ToolHold, askedAt: number | undefined): ToolHold =>
  askedAt === undefined ? hold : { ...hold, askedAt };

const rulesOf = ({ reasons }: Pick<Hold, 'reasons'>): string => reasons.map(({ rule }) => rule).join(', ');

const outcomeOf = (answer: ApprovalsRecord['answers'][string] | undefined): object =>
  answer ? { outcome: answer.approved ? 'approved' : 'denied', by: answer.by } : { outcome: 'expired' };

export const newApprovals = (): ApprovalsRecord => ({ waiting: [], answers: {}, cleared: [] });

export class Approvals {
  /** The uncut values of what is waiting; after continue-as-new they come back when it is asked again. */
  private readonly whole = new Map<string, readonly ShownValue[]>();

  /** @param changed is called when something starts or stops waiting, to update the page */
  constructor(
    readonly record: ApprovalsRecord,
    private readonly changed: () => void,
  ) {}

  get waiting(): readonly Approval[] {
    return this.record.waiting;
  }

  /**
   * Resolves when it is approved, with when it was asked, in milliseconds since 1970; undefined if its rules were approved
   * before. Throws `approval_denied` and `approval_expired`.
   */
  async ask(question: Question): Promise<number | undefined> {
    const { id, hash, reasons, expiresMs, values } = question;
    const { record } = this;
    if (reasons.every(({ rule }) => record.cleared.includes(rule))) return undefined;
    const now = Date.now();
    const askedAt = new Date(now).toISOString();
    const expiresAt = new Date(now + expiresMs).toISOString();
    let asked = record.waiting.find((one) => one.id === id);
    // It was asked before continue-as-new, and would now run in another folder.
    if (asked && asked.hash !== hash) {
      this.forget((one) => one === id);
      asked = undefined;
    }
    if (!asked && !this.answered(id)) {
      const { what, agent, runs, place } = question;
      const left = WAITING_CHARACTERS - charactersOf(record.waiting);
      const shown = { agent, runs, ...(place && { place }), values: cutValues(values, { together: left }) };
      asked = { id, what, hash, reasons, askedAt, expiresAt, ...shown };
      record.waiting.push(asked);
      log.info('approval needed', { question: id, runs, rules: rulesOf(asked) });
    }
    this.whole.set(id, values);
    this.changed();
    const leftMs = Math.max(0, Date.parse(asked?.expiresAt ?? expiresAt) - now);
    const isOfIt = (): boolean => ownValue(record.answers, id) !== undefined;
    let answer: ApprovalsRecord['answers'][string] | undefined;
    try {
      if (await condition(isOfIt, Math.max(1, leftMs))) answer = ownValue(record.answers, id);
    } finally {
      // Also if the asker is cancelled: its question would otherwise wait forever.
      this.forget((one) => one === id);
    }
    const rules = rulesOf(question);
    log.info('approval answered', { question: id, runs: question.runs, rules, ...outcomeOf(answer) });
    if (!answer) return refuse('approval_expired', { waitedMs: expiresMs, reasons: rules });
    if (!answer.approved)
      refuse('approval_denied', { reason: answer.reason ?? rules, by: answer.by ?? undefined });
    return asked ? Date.parse(asked.askedAt) : now;
  }

  /** This is not asked any more, though it was carried here: the policy may have changed. */
  drop(id: string): void {
    if (this.waiting.some((one) => one.id === id)) this.forget((one) => one === id);
  }

  /** After continue-as-new: drops questions that are not asked again. */
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
    const open = this.record.waiting.filter((one) => !this.answered(one.id) && !hasExpired(one));
    const found = id === undefined && open.length === 1 ? open[0] : open.find((one) => one.id === id);
    const allowed = open.map((one) => one.id).join(', ') || 'none: nothing is waiting';
    if (!found) return refuse('approval_unknown', { got: id ?? 'no id', allowed });
    if (hash !== undefined && hash !== found.hash)
      return refuse('approval_changed', { got: hash, allowed: found.hash });
    return found;
  }

  private answered(id: string): boolean {
    return ownValue(this.record.answers, id) !== undefined;
  }

  /** Throws like `check`, and `approval_needs_hash`: without a hash, an approval is for whatever is waiting by then. */
  checkApproval(request: { id?: string; hash?: string }): Approval {
    const found = this.check(request);
    if (request.hash === undefined && messageGuard().demandsSeals)
      return refuse('approval_needs_hash', { allowed: found.hash });
    return found;
  }

  approve(request: ApproveRequest): Approval {
    const { scope = 'once', by = null, ...which } = request;
    const found = this.checkApproval(which);
    setOwn(this.record.answers, found.id, { approved: true, by, reason: null });
    if (scope === 'session') {
      const rules = found.reasons.map(({ rule }) => rule);
      this.record.cleared = [...new Set([...this.record.cleared, ...rules])];
      const isCleared = (one: Approval): boolean =>
        one.reasons.every(({ rule }) => this.record.cleared.includes(rule));
      // Also answers everything else that waits for the same rules.
      for (const other of this.record.waiting)
        if (isCleared(other) && !this.answered(other.id) && !hasExpired(other))
          setOwn(this.record.answers, other.id, { approved: true, by, reason: null });
    }
    return found;
  }

  deny(request: DenyRequest): Approval {
    const { by = null, reason = null, ...which } = request;
    const found = this.check(which);
    setOwn(this.record.answers, found.id, { approved: false, by, reason });
    return found;
  }

  /** For when an answer is not waited for any longer. */
  denyAll(reason: string): void {
    for (const { id } of this.record.waiting)
      if (!this.answered(id)) setOwn(this.record.answers, id, { approved: false, by: null, reason });
  }

  /**
   * With an id: that one, uncut; none if it is cut here and not asked again yet in this run: a person should not approve what they
   * cannot see. Without: all of them, long values cut.
   */
  show({ id }: ApprovalsRequest = {}): Approval[] {
    if (id === undefined) return [...this.waiting];
    const values = this.whole.get(id);
    return this.waiting
      .filter((one) => one.id === id && (values !== undefined || !isCut(one)))
      .map((one) => ({ ...one, ...(values && { values: [...values] }) }));
  }

  /** What the page of the session or the turn shows, in Markdown. */
  details(): string {
    return approvalDetails(this.waiting);
  }
}

/** After a while without a worker, a task may bring an answer and, behind it, the end of the time for it. */
const hasExpired = ({ expiresAt }: Approval): boolean => Date.parse(expiresAt) <= Date.now();

const isCut = ({ values = [] }: Approval): boolean => values.some(({ omitted }) => omitted > 0);

const charactersOf = (waiting: readonly Approval[]): number =>
  waiting.flatMap(({ values = [] }) => values).reduce((all, { text }) => all + text.length, 0);

/** @param refused receives faults of signals: their senders get no answer */
export function listenToApprovals(approvals: Approvals, refused: (err: unknown) => void): void {
  const signalled = (work: () => unknown): void => {
    try {
      work();
    } catch (err) {
      refused(err);
    }
  };
  const listener = new Listener({ admit: (parse) => parse(), signalled });
  const { approve, deny } = APPROVAL_MESSAGES;
  listener.update(
    approve,
    (request) => approvals.approve(request),
    (request) => approvals.checkApproval(request),
  );
  listener.update(
    deny,
    (request) => approvals.deny(request),
    (request) => approvals.check(request),
  );
  listener.signal(approve, (request) => approvals.approve(request));
  listener.signal(deny, (request) => approvals.deny(request));
  listener.query(APPROVAL_MESSAGES.approvals, (request) => approvals.show(request ?? {}));
}
