// Which images the conversations of agents name. A request gets no others, whatever its hash. What was read of a
// conversation is not read again: pages ask for several images at once.
import type { AgentHandle } from '../../client/agents/agent-handle';
import type { AgentState, Message } from '../../contracts/agents/agent';
import type { ImageRef } from '../../contracts/tools/images';

/** Agents whose names of images are kept. */
const KEPT_AGENTS = 100;

class Conversation {
  private images = new Map<string, ImageRef>();
  private runId = '';
  /** Messages that were read, of the agent and of its running turn. */
  private read = 0;
  private turn = { number: 0, read: 0 };
  private reading: Promise<void> = Promise.resolve();

  constructor(private readonly agent: AgentHandle) {}

  async find(sha256: string): Promise<ImageRef | undefined> {
    const mine = this.reading.catch(() => undefined).then(() => this.readOn());
    this.reading = mine;
    await mine;
    return this.images.get(sha256);
  }

  private async readOn(): Promise<void> {
    const state = await this.agent.ownState();
    if (state.runId !== this.runId) {
      // The next run names only what it was given.
      this.images = new Map();
      this.runId = state.runId;
      this.read = 0;
      this.turn = { number: 0, read: 0 };
    }
    while (this.read < state.messages) {
      const { messages } = await this.agent.page({ from: this.read }, state.runId);
      if (messages.length === 0) break;
      this.read += messages.length;
      this.add(messages);
    }
    if (state.currentTurn !== null) await this.readTurn(state);
  }

  private async readTurn({ turns }: AgentState): Promise<void> {
    if (this.turn.number !== turns) this.turn = { number: turns, read: 0 };
    for (;;) {
      const messages = (await this.agent.turnPage(turns, this.turn.read))?.messages ?? [];
      if (messages.length === 0) return;
      this.turn.read += messages.length;
      this.add(messages);
    }
  }

  private add(messages: readonly Message[]): void {
    for (const message of messages)
      if (message.role === 'tool')
        for (const image of message.images ?? []) this.images.set(image.sha256, image);
  }
}

export class NamedImages {
  /** The one used last is the last. */
  private readonly conversations = new Map<string, Conversation>();

  /** Throws `not_found` for an agent that the server does not know. */
  async find(agent: AgentHandle, sha256: string): Promise<ImageRef | undefined> {
    const known = this.conversations.get(agent.id) ?? new Conversation(agent);
    this.conversations.delete(agent.id);
    this.conversations.set(agent.id, known);
    const [oldest] = this.conversations.keys();
    if (oldest !== undefined && this.conversations.size > KEPT_AGENTS) this.conversations.delete(oldest);
    return known.find(sha256);
  }
}
