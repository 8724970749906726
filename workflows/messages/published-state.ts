// The search attributes of a workflow that say what it is doing and what it waits for. Each change is one event in a
// workflow task that is there anyway, and an action where the server's operator is billed by action: so only states
// that last are published.
import type { SearchAttributePair } from '@temporalio/common';
import { patched, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { WaitsFor } from '../../contracts/agents/waits';
import { lastNotices, readNotice, writeNotice, type NoticeId } from '../../contracts/agents/notices';
import {
  attributesOfState,
  NOTICED_AT_KEY,
  NOTICES_KEY,
  STATE_KEY,
  STATE_PATCH,
  WAITS_FOR_KEY,
  type WorkState,
} from '../../contracts/agents/work-state';

export class PublishedState {
  /** Notices of this run and the last ones of those before it: each is published once. */
  private readonly noticed: Set<string>;
  private notices: string[];

  private constructor(private state: WorkState | null) {
    this.notices = [...(workflowInfo().typedSearchAttributes.get(NOTICES_KEY) ?? [])];
    this.noticed = new Set(
      this.notices.flatMap((text) => {
        const notice = readNotice(text);
        return notice ? [keyOf(notice)] : [];
      }),
    );
  }

  /** Whether the server has the attributes, as far as this workflow knows: its children may be started with them. */
  get isPublished(): boolean {
    return this.state !== null;
  }

  /** For workflows that are only started by other workflows of ours: silent unless they gave the attributes. */
  static given(): PublishedState {
    return new PublishedState(givenState());
  }

  /**
   * For workflows that anyone may start. A starter that gave the state knows the attributes, and the server accepted
   * them. Without it, for example from the web UI, the worker decides (`patchActivationCallback`): an attribute that
   * the server does not have would fail the workflow task, over and over.
   * @param ids what the workflow is, besides what it is doing
   */
  static open(ids: readonly SearchAttributePair[], now: WorkState): PublishedState {
    const given = givenState();
    if (given) {
      const { typedSearchAttributes } = workflowInfo();
      const missing = ids.filter(({ key, value }) => typedSearchAttributes.get(key) !== value);
      if (missing.length > 0) upsertSearchAttributes(missing);
      const published = new PublishedState(given);
      published.publish(now);
      return published;
    }
    const isKnown = patched(STATE_PATCH);
    const pairs = [...ids, ...(isKnown ? attributesOfState(now) : [])];
    if (pairs.length > 0) upsertSearchAttributes(pairs);
    return new PublishedState(isKnown ? now : null);
  }

  /**
   * Does nothing if nothing has changed.
   * @param noticed whom it waits for now, and what it has lost: published once each, in the same command
   */
  publish(now: WorkState, noticed: readonly NoticeId[] = []): void {
    const { state } = this;
    if (!state) return;
    const isSame = state.state === now.state && state.waitsFor === now.waitsFor;
    this.state = now;
    const pairs = [...(isSame ? [] : attributesOfState(now)), ...this.newNotices(noticed)];
    if (pairs.length > 0) upsertSearchAttributes(pairs);
  }

  private newNotices(ids: readonly NoticeId[]): SearchAttributePair[] {
    const fresh = ids.filter((one) => !this.noticed.has(keyOf(one)));
    if (fresh.length === 0) return [];
    const now = new Date();
    const at = now.toISOString();
    for (const one of fresh) this.noticed.add(keyOf(one));
    this.notices = lastNotices([...this.notices, ...fresh.map((one) => writeNotice({ ...one, at }))]);
    return [
      { key: NOTICES_KEY, value: this.notices },
      { key: NOTICED_AT_KEY, value: now },
    ];
  }
}

const keyOf = ({ kind, id }: NoticeId): string => `${kind} ${id}`;

/** From the start of this run: what it was given, or what the run before it had been given. */
function givenState(): WorkState | null {
  const { typedSearchAttributes } = workflowInfo();
  const state = typedSearchAttributes.get(STATE_KEY);
  if (state === undefined) return null;
  const waitsFor = (typedSearchAttributes.get(WAITS_FOR_KEY) ?? 'none') as WaitsFor;
  return { state: state as WorkState['state'], waitsFor };
}
