// The messages that an agent has accepted, by id: the same message again is answered but not accepted twice; other
// content with the same id is refused. Also across continue-as-new, after which the server forgets update ids.
import type { AgentResult } from '../../../contracts/agents/agent';
import { contentHash, type MessageContent } from '../../../contracts/message-content';
import { jsonBytes } from '../../../contracts/payload-size';
import type { TakenMessage } from './conversation-record';
import { refuse } from '../../messages/refusal';

const REMEMBERED = 100;
const WITH_RESULT = 4;
const MAX_RESULT_BYTES = 12_000;

export class TakenMessages {
  private readonly taken: TakenMessage[];
  /** Promises for messages that are not answered yet. */
  private readonly answers = new Map<string, Promise<AgentResult>>();

  constructor(carried: readonly TakenMessage[] = []) {
    this.taken = [...carried];
  }

  /** What the next run needs; large answers are left out. */
  get record(): TakenMessage[] {
    return this.taken.map(({ result, ...known }) => ({
      ...known,
      ...(result && jsonBytes(result) <= MAX_RESULT_BYTES && { result }),
    }));
  }

  /** Throws `id_conflict`. */
  check(id: string | undefined, content: MessageContent): void {
    const known = this.find(id);
    if (known && known.hash !== contentHash(known.id, content)) refuse('id_conflict', { got: known.id });
  }

  /** The hash of what was taken under an id. */
  hashOf(id: string | undefined): string | null {
    return this.find(id)?.hash ?? null;
  }

  /** True the first time. Throws `id_conflict`. */
  isFirst(id: string | undefined, content: MessageContent): boolean {
    this.check(id, content);
    if (id === undefined) return true;
    if (this.find(id)) return false;
    this.taken.push({ id, hash: contentHash(id, content) });
    if (this.taken.length > REMEMBERED) this.taken.shift();
    return true;
  }

  /**
   * The answer to a message; the first time, `take` accepts it. Throws `id_conflict` and `answer_forgotten`. Not async:
   * the answer must not come later than in recorded histories, since a replay needs the same order.
   */
  answer(
    id: string | undefined,
    content: MessageContent,
    take: () => Promise<AgentResult>,
  ): Promise<AgentResult> {
    if (id !== undefined && !this.isFirst(id, content)) return this.again(id);
    const answer = take();
    if (id === undefined) return answer;
    this.answers.set(id, answer);
    void answer.then((result) => {
      this.answers.delete(id);
      const known = this.find(id);
      if (known) known.result = result;
      for (const old of this.taken.filter((one) => one.result).slice(0, -WITH_RESULT)) delete old.result;
    });
    return answer;
  }

  private again(id: string): Promise<AgentResult> {
    const known = this.answers.get(id);
    if (known) return known;
    return Promise.resolve(this.find(id)?.result ?? refuse('answer_forgotten', { got: id }));
  }

  private find(id: string | undefined): TakenMessage | undefined {
    return this.taken.find((one) => one.id === id);
  }
}
