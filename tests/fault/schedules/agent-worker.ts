// An agent with a scripted model that works through its steps; what its model was told is in its transcript.
import type { Message } from '../../../contracts/agents/agent';
import type { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { call, type Reply, type Scratch } from '../../helpers/engines/temporal';
import { patiently } from './patiently';
import type { Recorder } from './recorder';
import type { AgentStep, WorkerPlan } from './schedule';

const LATE = { firstOutputMs: 60_000, betweenOutputMs: 60_000, maxMs: 60_000, promptMs: 60_000 };

interface Parts {
  engine: EngineOfItsOwn;
  recorder: Recorder;
  files: Scratch;
}

export class AgentWorker {
  constructor(
    private readonly parts: Parts,
    private readonly plan: Extract<WorkerPlan, { kind: 'agent' }>,
  ) {}

  private get allSteps(): AgentStep[] {
    return [...this.plan.steps, ...this.plan.child];
  }

  effects(): string[] {
    return this.allSteps.map(({ id }) => id);
  }

  ofTools(): string[] {
    return this.allSteps.flatMap(({ kind, id }) => (kind === 'tool' ? [id] : []));
  }

  /** Resolves with how it ended. */
  async work(): Promise<string> {
    const { id, steps, child } = this.plan;
    const { engine, files, recorder } = this.parts;
    const agent = engine.client.agent(id);
    const childId = `${id}-child-1`;
    const ofChild = child.map((step) => this.reply(step));
    const spawn = { role: 'child', prompt: 'x', model: files.model([...ofChild, { text: 'done' }]) };
    const spawning = [
      call('spawn_agent', spawn),
      call('wait_for_agents', { agent_ids: [childId], timeout_ms: 120_000 }),
    ];
    const model = files.model([
      ...steps.map((step) => this.reply(step)),
      ...(child.length > 0 ? spawning : []).map((text) => ({ text })),
      { text: 'done' },
    ]);
    await this.ask(() => agent.start({ task: 'x', model, cwd: recorder.folder, yield: LATE }, `${id}-start`));
    const result = await this.ask(() => agent.result());
    await this.record(id, steps);
    if (child.length > 0) await this.record(childId, child);
    if (result.error) recorder.history.odd.push(`${id}: ${result.error.code} ${result.error.message}`);
    return result.reason;
  }

  /** Of an agent that has not ended, for people. */
  async noteState(): Promise<void> {
    const { status, currentTurn } = await this.parts.engine.client.agent(this.plan.id).state();
    this.parts.recorder.note(`${this.plan.id} is ${JSON.stringify({ status, currentTurn })}`);
  }

  private reply(step: AgentStep): Reply {
    if (step.kind === 'tool') {
      const { tool, id, ms } = step;
      return { text: call(tool, { file: this.parts.recorder.effectsFile, id, ms }) };
    }
    const { id, beforeMs, afterMs, exit } = step;
    const effect = `echo ${id} >> ${this.parts.recorder.effectsFile}`;
    const code = `sleep ${beforeMs / 1_000}; ${effect}; sleep ${afterMs / 1_000}; (exit ${exit})`;
    return { text: call('code_execution_tool', { runtime: 'terminal', code }) };
  }

  private async record(agent: string, steps: AgentStep[]): Promise<void> {
    const { engine, recorder } = this.parts;
    const { messages } = await this.ask(() => engine.client.agent(agent).transcript(0, 1_000));
    const results = messages.filter((message) => message.role === 'tool');
    steps.forEach((step, index) => this.tell(step, results[index]));
    if (results.length < steps.length) recorder.history.odd.push(`${agent}: ${results.length} results`);
  }

  private tell(step: AgentStep, result: Extract<Message, { role: 'tool' }> | undefined): void {
    const { recorder } = this.parts;
    if (!result) return recorder.tell(step.id, 'untold', 'no result');
    const says = result.content.slice(0, 300);
    if (result.isError) return recorder.tellCode(step.id, /^Error (\w+)/.exec(says)?.[1] ?? says);
    if (step.kind === 'tool') return recorder.tell(step.id, 'done', says);
    const { state, exitCode } = result.session ?? {};
    if (state === 'exited' && exitCode !== step.exit) recorder.history.odd.push(`${step.id}: ${says}`);
    recorder.tell(step.id, state === 'exited' && exitCode === step.exit ? 'done' : 'possible', says);
  }

  private ask<T>(ask: () => Promise<T>): Promise<T> {
    return patiently(ask, (err) => this.parts.recorder.note(`${this.plan.id} asked in vain: ${String(err)}`));
  }
}
