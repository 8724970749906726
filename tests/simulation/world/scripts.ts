// A model of scripts that call tools: what the worker of their host asks their session for, and asks for again after its
// death. A script's code is `calls` and a word for each call; `together` makes them all at once.
import type {
  ToolCallAnswer,
  ToolCallRequest,
  ToolOutcome,
  ToolResults,
} from '../../../contracts/tools/tools';
import type { Agenda, Life } from '../server/agenda';
import type { SimulatedServer } from '../server/server';
import { holdOf } from './agent-activities';
import type { Clients } from './client';
import type { Answer, Facts } from './facts';
import type { CommandRecord, Terminal } from './terminal';

/** `there`: the worker of the tool holds it. `mute`: its arguments are not shown. */
export const CALLS = ['once', 'again', 'held', 'there', 'slow', 'local', 'mute'] as const;
type CallWord = (typeof CALLS)[number];

interface ScriptCall {
  request: ToolCallRequest;
  outcome: string | undefined;
}

interface Script {
  workflowId: string;
  calls: ScriptCall[];
  isTogether: boolean;
  /** What the session need not keep any longer. */
  delivered: string[];
}

export class Scripts {
  private readonly scripts = new Map<string, Script>();
  private requests = 0;

  constructor(
    private readonly agenda: Agenda,
    private readonly server: SimulatedServer,
    private readonly clients: Clients,
    private readonly facts: Facts,
  ) {}

  /** One life of the worker follows what the holder knows of a script. */
  follow(terminal: Terminal, record: CommandRecord, workflowId: string, life: Life): void {
    const key = `${terminal.name} ${record.id}`;
    const script = this.scripts.get(key) ?? scriptOf(record, workflowId);
    this.scripts.set(key, script);
    const goOn = (): void => {
      const open = script.calls.filter(({ outcome }) => outcome === undefined);
      const [next] = open;
      if (record.hasEnded) return;
      if (!next)
        this.agenda.add(
          `${record.id} ends`,
          () => {
            if (terminal.running === record) terminal.end(0);
          },
          life,
        );
      else for (const call of script.isTogether ? open : [next]) this.ask(script, call, life, goOn);
    };
    const look = (): void => {
      if (life.isOver) return;
      if (record.hasEnded) this.giveUp(script, life);
      else terminal.onChange(look);
    };
    goOn();
    look();
  }

  private ask(script: Script, call: ScriptCall, life: Life, goOn: () => void): void {
    const { request } = call;
    const { workflowId: of } = script;
    const answered = script.delivered.splice(0);
    this.facts.add({ is: 'called', call: request.id, of, command: request.commandId });
    const content = { ...request, ...(answered.length > 0 && { answered }) };
    this.send(script, { message: 'toolCall', content }, life, (answer) => {
      if (answer.is !== 'done') return this.settle(script, call, codeOf(answer), goOn);
      const { pending, outcome } = answer.value as Extract<ToolCallAnswer, { pending: false }>;
      if (pending) this.askForResults(script, call, life, goOn);
      else this.settle(script, call, codeIn(outcome), goOn);
    });
  }

  private askForResults(script: Script, call: ScriptCall, life: Life, goOn: () => void): void {
    const { id } = call.request;
    this.send(script, { message: 'toolResults', content: { ids: [id] } }, life, (answer) => {
      if (call.outcome !== undefined) return;
      if (answer.is !== 'done') return this.settle(script, call, codeOf(answer), goOn);
      const { outcomes, unknown } = answer.value as ToolResults;
      const outcome = outcomes[id];
      if (outcome) this.settle(script, call, codeIn(outcome), goOn);
      else if (unknown.includes(id)) this.settle(script, call, 'unknown_outcome', goOn);
      else this.askForResults(script, call, life, goOn);
    });
  }

  private send(
    { workflowId }: Script,
    asked: { message: string; content: object },
    life: Life,
    done: (answer: Answer) => void,
  ): void {
    const id = `request-${(this.requests += 1)}`;
    this.clients.askFor({ id, workflowId, ...asked }, life, done);
  }

  private settle(script: Script, call: ScriptCall, code: string, goOn: () => void): void {
    if (call.outcome !== undefined) return;
    call.outcome = code;
    const { id } = call.request;
    script.delivered.push(id);
    this.facts.add({ is: 'call-answered', call: id, of: script.workflowId, code });
    if (!script.isTogether || script.calls.every(({ outcome }) => outcome !== undefined)) goOn();
  }

  /** Its calls end with it. */
  private giveUp(script: Script, life: Life): void {
    const ids = script.calls.filter(({ outcome }) => outcome === undefined).map(({ request }) => request.id);
    if (ids.length === 0) return;
    this.agenda.add(
      `calls of ${ids.join(', ')} are given up`,
      () => {
        const content = { ids, reason: 'the script has ended' };
        const { workflowId: of } = script;
        if (this.server.signalIfOpen(of, 'cancelTools', content))
          this.facts.add({ is: 'signalled', of, name: 'cancelTools', id: '', content });
      },
      life,
    );
  }
}

function scriptOf({ id, code }: CommandRecord, workflowId: string): Script {
  const words = code.split(' ').filter((word): word is CallWord => CALLS.includes(word as CallWord));
  const calls = words.map((word, n) => ({
    request: requestOf(id, `${id}-call-${n}`, word),
    outcome: undefined,
  }));
  return { workflowId, calls, isTogether: code.includes('together'), delivered: [] };
}

const requestOf = (commandId: string, id: string, word: CallWord): ToolCallRequest => ({
  ...{ id, commandId, tool: 'effect', args: { word }, cwd: '/', timeoutMs: 60_000 },
  effects: word === 'again' || word === 'slow' ? 'idempotent' : 'once',
  runsOn: word === 'local' ? 'host' : 'anywhere',
  ...(word === 'held' && { hold: holdOf(id) }),
  ...(word === 'mute' && { secret: true }),
});

const codeIn = (outcome: ToolOutcome): string => (outcome.ok ? 'ok' : outcome.error.code);
const codeOf = (answer: Answer): string => (answer.is === 'refused' ? answer.error.code : 'unknown_outcome');
