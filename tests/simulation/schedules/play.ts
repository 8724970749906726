// Plays a schedule in a world of its own, and says which rule it broke.
import { sessionWorkflowId } from '../../../contracts/ids';
import { brokenRule, type Violation } from '../rules/rules';
import type { WorkflowCode } from '../worker/workflow-code';
import type { Request } from '../world/client';
import { World } from '../world/world';
import type { Schedule, Step } from './schedule';

/** @param told is called with all that happens */
export async function play(
  schedule: Schedule,
  code: WorkflowCode,
  told?: (line: string, at: number) => void,
): Promise<Violation | undefined> {
  const { weight, suggestAt, steps } = schedule;
  const world = new World({ code, weight, suggestAt, ...(told && { told }) });
  try {
    const played = new Played(world);
    for (const step of steps) {
      told?.(`> ${JSON.stringify(step)}`, world.agenda.nowMs);
      await played.step(step);
    }
    told?.('> all faults are over', world.agenda.nowMs);
    await world.settle();
    return await brokenRule(world);
  } finally {
    await world.end();
  }
}

const AGENT = 'a';
const idOf = (session: number): string => sessionWorkflowId({ agent: AGENT, host: 'local', session });

class Played {
  private readonly execs: Request[] = [];
  private again = 0;

  constructor(private readonly world: World) {}

  async step(step: Step): Promise<void> {
    const { agenda, clients, workers, hostWorker, host } = this.world;
    switch (step.do) {
      case 'go':
        for (const pick of step.picks) await agenda.pick(pick);
        return;
      case 'pass':
        return agenda.pass(step.ms);
      case 'give-up':
        return clients.giveUp();
      case 'lose-answers':
        clients.answersToLose += step.count;
        return;
      case 'evict': {
        const { allRuns } = this.world.server;
        const open = allRuns.filter(({ isOpen, taskState }) => isOpen && taskState !== 'started');
        const run = open[step.which % Math.max(1, open.length)];
        return run && workers.evict(run);
      }
      case 'kill-worker':
        return workers.kill(step.which);
      case 'start-worker':
        return workers.start();
      case 'kill-host-worker':
        return hostWorker.kill();
      case 'start-host-worker':
        return hostWorker.start();
      case 'lose-terminals':
        return host.loseTerminals();
      case 'decide':
        return this.decide(step);
      case 'exec':
      case 'exec-again':
      case 'input':
      case 'reset':
      case 'output':
      case 'wait':
      case 'close':
      case 'cancel':
      case 'terminate':
        return this.ask(step);
    }
  }

  private ask(step: Asking): void {
    const { clients, server, facts } = this.world;
    if (step.do === 'exec-again') {
      const before = this.execs[step.which % Math.max(1, this.execs.length)];
      const id = `${before?.id}~${(this.again += 1)}`;
      const updateId = step.isSameUpdate ? before?.id : id;
      if (before) clients.ask({ ...before, id, ...(updateId !== undefined && { updateId }) });
      return;
    }
    const workflowId = idOf(step.session);
    switch (step.do) {
      case 'exec': {
        const { id, code, reset } = step;
        const content = { id, code, ...(reset && { reset }) };
        const start = { type: 'execSession', args: [{}] };
        const request = { id, workflowId, message: 'exec', content, start };
        this.execs.push(request);
        return clients.ask(request);
      }
      case 'input': {
        const { id, key } = step;
        const content = { id, ...(key ? { keys: [key] } : { keyboard: `text of ${id}` }) };
        if (step.bySignal) return clients.signal(workflowId, 'input', content);
        return clients.ask({ id, workflowId, message: 'input', content });
      }
      case 'reset': {
        const content = { id: step.id };
        if (step.bySignal) return clients.signal(workflowId, 'reset', content);
        return clients.ask({ id: step.id, workflowId, message: 'reset', content });
      }
      case 'output': {
        const content = step.waits ? { wait: 'exit' } : {};
        return clients.ask({ id: step.id, workflowId, message: 'output', content });
      }
      case 'wait':
        return clients.ask({ id: step.id, workflowId, message: 'wait', content: {} });
      case 'close':
        return clients.signal(workflowId, 'close', { reason: 'it is done' });
      case 'cancel':
        server.cancel(workflowId);
        return;
      case 'terminate':
        if (server.terminate(workflowId, 'somebody did')) facts.add({ is: 'terminated', of: workflowId });
    }
  }

  private async decide({
    which,
    id,
    approve,
    hash: how,
    lasting,
  }: Extract<Step, { do: 'decide' }>): Promise<void> {
    const { clients, facts } = this.world;
    const waiting = [];
    for (const run of this.world.sessions().filter(({ isOpen }) => isOpen)) {
      const state = await this.world.stateOf(run);
      for (const one of state?.approvals ?? []) waiting.push({ of: run.workflowId, ...one });
    }
    const asked = waiting[which % Math.max(1, waiting.length)];
    if (!asked) return;
    const { of, id: question, hash: shown } = asked;
    const hash = how === 'shown' ? shown : `another ${shown}`;
    facts.add({ is: 'shown', question, hash: shown, of });
    facts.add({ is: 'decided', question, approved: approve, hash, of, lasting });
    const content = { id: question, hash, ...(approve && lasting && { scope: 'session' }) };
    clients.ask({ id, workflowId: of, message: approve ? 'approve' : 'deny', content });
  }
}

type Asking = Extract<
  Step,
  { do: 'exec' | 'exec-again' | 'input' | 'reset' | 'output' | 'wait' | 'close' | 'cancel' | 'terminate' }
>;
