// Agents of a test that work in a folder of the test's own, on a worker with checkpoints.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentHandle } from '../../../client/agents/agent-handle';
import type { AgentInput } from '../../../contracts/schemas/agent';
import type { Message } from '../../../contracts/agents/agent';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, QUICK_YIELD, scratch, uniqueId, type Reply } from '../../helpers/engines/temporal';

export const run = (code: string): Reply => ({
  text: call('code_execution_tool', { runtime: 'terminal', code }),
});
export const look: Reply = { text: call('read_file', { file_path: 'a.txt' }) };

export class AgentsWithFiles {
  readonly engine = new EngineOfItsOwn();
  /** Where the replies of their models are. */
  readonly scripts = scratch();
  /** The workspace of the current test. */
  folder = '';

  begin(): void {
    this.folder = mkdtempSync(join(tmpdir(), 'holdfast-workspace-'));
  }

  end(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Returns the processes that are left. */
  async close(): Promise<string[]> {
    const left = await this.engine.end();
    this.scripts.remove();
    return left;
  }

  at = (name: string): string => join(this.folder, name);
  text = (name: string): string => readFileSync(this.at(name), 'utf8');

  settings(replies: Reply[], cwd = this.folder): Pick<AgentInput, 'model' | 'cwd' | 'yield'> {
    return { model: this.scripts.model(replies), cwd, yield: QUICK_YIELD };
  }

  async conversation(replies: Reply[]): Promise<AgentHandle> {
    const agent = this.engine.client.agent(uniqueId('files'));
    await agent.start({ mode: 'conversation', ...this.settings(replies) });
    return agent;
  }
}

export const messagesOf = async (agent: AgentHandle): Promise<Message[]> =>
  (await agent.transcript(0, 1_000)).messages;
