// What people and programs do in a schedule, to the sessions and the agent of a world.
import { agentWorkflowId, sessionWorkflowId } from '../../../contracts/ids';
import { quotaWorkflowId } from '../../../contracts/models/daily-quota';
import { webhookWorkflowId } from '../../../contracts/webhooks';
import type { Approval } from '../../../contracts/tools/approvals';
import type { Request } from '../world/client';
import type { World } from '../world/world';
import type { FAULTS } from './faults';
import type { AgentKind, Step } from './schedule';

type Act = Exclude<Step['do'], keyof typeof FAULTS>;
type StepOf<Do extends Step['do']> = Extract<Step, { do: Do }>;

const NAME = 'a';
const AGENT = agentWorkflowId(NAME);
const idOf = ({ session }: { session: number }): string =>
  sessionWorkflowId({ agent: NAME, host: 'local', session });

/** The agent is a conversation, and begins with what is sent to it. */
const conversationOf = (kind: AgentKind): { type: string; args: object[] } => ({
  type: 'agent',
  args: [{ model: 'simulated:model', mode: 'conversation', ...MADE[kind] }],
});
const MADE: Record<AgentKind, object> = {
  plain: {},
  limited: {
    limits: {
      steps: 4,
      tokens: 25,
      costUsd: 2,
      toolCalls: 4,
      wallMs: 60_000,
      formatRepairs: 1,
      agents: 1,
      depth: 1,
    },
  },
  files: {},
  'own-files': { workspace: { of: null } },
};
const HASH = '0'.repeat(40);
const BLOB = { sha256: 'a'.repeat(64), from: 0 };
/** Workflows that ask once and end. */
const SHORT: readonly (readonly [type: string, input: object])[] = [
  ['carryBlob', { at: 'host.local', ...BLOB }],
  ['carryBlob', { at: 'host.nowhere', ...BLOB }],
  ['offeredTools', { known: null }],
  ['compareCheckpoints', { host: 'local', agent: NAME, from: null, to: HASH, lines: false }],
  [
    'rewindFiles',
    {
      host: 'local',
      agent: NAME,
      cwd: null,
      to: HASH,
      expected: null,
      foreign: [],
      force: true,
      dryRun: false,
    },
  ],
];
const factsOf = (instance: string): object => ({
  ...{ instance, version: '0.1.0', protocol: 1, access: 'read-write', root: '/', treeKill: 'pid-namespace' },
  ...{ sandbox: null, capabilities: [], listens: null },
});
const SESSION = { type: 'execSession', args: [{}] };

export class Person {
  private readonly execs: Request[] = [];
  private readonly sent: Request[] = [];
  private readonly rewinds: Request[] = [];
  private again = 0;

  constructor(
    private readonly world: World,
    private readonly kind: AgentKind = 'plain',
  ) {}

  readonly acts: { [Do in Act]: (step: StepOf<Do>) => void | Promise<void> } = {
    exec: (step) => {
      const { id, code, reset } = step;
      const tools = code.includes('few')
        ? { calls: 1 }
        : code.includes('narrow')
          ? { allowed: ['another'] }
          : null;
      const content = {
        ...{ id, code, ...(reset && { reset }), ...(tools && { tools }) },
        ...(code.startsWith('imports') && { checkImports: true, runtime: 'python' }),
      };
      this.ask({ id, workflowId: idOf(step), message: 'exec', content, start: SESSION }, this.execs);
    },
    'exec-again': (step) => this.askAgain(this.execs, step),
    input: (step) => {
      const { id, key, bySignal } = step;
      const content = { id, ...(key ? { keys: [key] } : { keyboard: `text of ${id}` }) };
      this.say(bySignal, { id, workflowId: idOf(step), message: 'input', content });
    },
    reset: (step) => {
      const { id, bySignal } = step;
      this.say(bySignal, { id, workflowId: idOf(step), message: 'reset', content: { id } });
    },
    output: (step) => {
      const content = step.waits ? { wait: 'exit' } : {};
      this.ask({ id: step.id, workflowId: idOf(step), message: 'output', content });
    },
    wait: (step) => this.ask({ id: step.id, workflowId: idOf(step), message: 'wait', content: {} }),
    close: (step) => this.world.clients.signal(idOf(step), 'close', { reason: 'it is done' }),
    cancel: (step) => void this.world.server.cancel(idOf(step)),
    terminate: (step) => this.terminate(idOf(step)),
    send: ({ id, message, isUrgent, bySignal }) => {
      const content = { id, message, ...(isUrgent && { mode: 'interrupt' }) };
      const request = { id, workflowId: AGENT, message: 'send', content };
      if (bySignal) this.say(true, request);
      else this.ask({ ...request, start: conversationOf(this.kind) }, this.sent);
    },
    rewind: ({ id, to, what, dryRun, force, stop, bySignal }) => {
      const content = { id, to, what, dryRun, force, stop };
      this.say(bySignal, { id, workflowId: AGENT, message: 'rewind', content }, this.rewinds);
    },
    'rewind-again': (step) => this.askAgain(this.rewinds, step),
    webhook: () => this.begin(webhookWorkflowId('w'), 'webhook', [{ webhook: 'w' }]),
    quota: () => this.begin(quotaWorkflowId('holdfast'), 'quota', []),
    claim: () => this.begin('claim/host.local', 'claim', []),
    event: ({ id }) => this.world.side.happen(id),
    'test-webhook': ({ id }) => this.world.clients.signal(webhookWorkflowId('w'), 'test', { id }),
    receiver: ({ is }) => void (this.world.side.receiver = is),
    announce: ({ instance }) => {
      this.begin('host/local', 'host', [{}]);
      this.world.side.living.add(String(instance));
      this.world.clients.signal('host/local', 'announce', factsOf(String(instance)));
    },
    'stop-host': ({ instance }) => void this.world.side.living.delete(String(instance)),
    'forget-host': () => this.world.clients.signal('host/local', 'forget', {}),
    short: ({ id }) => {
      const n = Number(id.slice(1));
      const [type, input] = SHORT[n % SHORT.length] ?? ['offeredTools', {}];
      this.begin(id, type, [input]);
    },
    dismiss: () => this.world.clients.signal(AGENT, 'dismiss', {}),
    look: () => this.look(),
    'send-again': (step) => this.askAgain(this.sent, step),
    interrupt: ({ id }) => this.ask({ id, workflowId: AGENT, message: 'interrupt', content: {} }),
    recover: ({ id }) => this.ask({ id, workflowId: AGENT, message: 'recover', content: { id } }),
    stop: () => this.world.clients.signal(AGENT, 'stop', {}),
    'cancel-agent': () => void this.world.server.cancel(AGENT),
    'terminate-agent': () => this.terminate(AGENT),
    'give-up': () => this.world.clients.giveUp(),
    decide: (step) => this.decide(step),
  };

  /** Unless it runs. */
  private begin(workflowId: string, type: string, args: readonly unknown[]): void {
    this.world.server.start(workflowId, type, args, true);
  }

  private ask(request: Request, among?: Request[]): void {
    among?.push(request);
    this.world.clients.ask(request);
  }

  private say(bySignal: boolean, request: Request, among?: Request[]): void {
    const { workflowId, message, content } = request;
    if (bySignal) this.world.clients.signal(workflowId, message, content);
    else this.ask(request, among);
  }

  private askAgain(
    among: Request[],
    { which, isSameUpdate }: StepOf<'exec-again' | 'send-again' | 'rewind-again'>,
  ): void {
    const before = among[which % Math.max(1, among.length)];
    if (!before) return;
    const id = `${before.id}~${(this.again += 1)}`;
    this.ask({ ...before, id, updateId: isSameUpdate ? before.id : id });
  }

  /** None of it changes anything, or fails. */
  private async look(): Promise<void> {
    const { world } = this;
    const { server } = world;
    const asks: Record<string, readonly (readonly [string, unknown?])[]> = {
      execSession: [['state'], ['output'], ['approvals', {}]],
      agent: [['state'], ['transcript', { from: 0 }], ['taken', { id: 'm0' }]],
      turn: [['state'], ['transcript', { from: 0, limit: 1 }], ['approvals', {}]],
    };
    for (const run of server.allRuns.filter(({ isOpen }) => isOpen))
      for (const [name, request] of asks[run.start.workflowType] ?? [])
        await world.workers.query(run, name, request);
  }

  private terminate(workflowId: string): void {
    if (this.world.server.terminate(workflowId, 'somebody did'))
      this.world.facts.add({ is: 'terminated', of: workflowId });
  }

  /** Of the sessions by themselves; of turns through their agent, as people do. */
  private async waiting(): Promise<{ of: string; one: Approval }[]> {
    const { world } = this;
    const waiting: { of: string; one: Approval }[] = [];
    for (const run of world.open('execSession'))
      for (const one of (await world.stateOf(run))?.approvals ?? [])
        waiting.push({ of: run.workflowId, one });
    for (const run of world.open('agent'))
      for (const one of (await world.stateOfAgent(run))?.approvals ?? [])
        if (one.workflowId.includes('/turn/')) waiting.push({ of: run.workflowId, one });
    return waiting;
  }

  private async decide({ which, id, approve, hash: how, lasting }: StepOf<'decide'>): Promise<void> {
    const waiting = await this.waiting();
    const asked = waiting[which % Math.max(1, waiting.length)];
    if (!asked) return;
    const { of, one } = asked;
    const { id: question, hash: shown } = one;
    const hash = how === 'shown' ? shown : `another ${shown}`;
    const isLasting = approve && lasting;
    this.world.facts.add({ is: 'shown', question, hash: shown, of });
    this.world.facts.add({
      is: 'decided',
      request: id,
      question,
      approved: approve,
      hash,
      of,
      lasting: isLasting,
    });
    const content = { id: question, hash, ...(isLasting && { scope: 'session' }) };
    this.ask({ id, workflowId: of, message: approve ? 'approve' : 'deny', content });
  }
}
