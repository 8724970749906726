// A team's deployment: a real Temporal server on PostgreSQL, and machines in networks of their own that serve agents and
// hosts. One is killed for good, another frozen.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HoldfastClient } from '../../../client/holdfast-client';
import type { AgentResult } from '../../../contracts/agents/agent';
import type { CommandView } from '../../../contracts/sessions/session';
import { Cluster, noCluster } from '../../helpers/engines/cluster';
import { longTest } from '../../helpers/run/long-run';
import { Machine } from '../../helpers/hosts/machine';
import { noNetworkLink } from '../../helpers/hosts/network-link';
import { call, QUICK_YIELD, scratch, uniqueId } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const missing = noNetworkLink() ?? noCluster();
const whereAllIsThere = missing === undefined ? describe : describe.skip;

const TOOLS = join(__dirname, '..', '..', 'fixtures', 'journal-tools.mjs');
const AGENTS = 6;
const STEPS = 4;
const PATIENT = { firstOutputMs: 300_000, betweenOutputMs: 300_000, maxMs: 300_000 };

jest.setTimeout(300_000);

whereAllIsThere(`several machines at one server${missing ? ` (not checked: ${missing})` : ''}`, () => {
  const cluster = new Cluster();
  const namespace = uniqueId('team');
  const files = scratch();
  const effects = mkdtempSync(join(tmpdir(), 'holdfast-effects-'));
  const machines: Machine[] = [];
  let client: HoldfastClient;

  const machine = async (name: string): Promise<Machine> => {
    const made = new Machine(name, namespace);
    machines.push(made);
    await made.open(cluster.port);
    return made;
  };

  // The server is built first where that was not done yet.
  beforeAll(async () => {
    await cluster.start();
    await cluster.makeNamespace(namespace);
    client = await HoldfastClient.connect({ address: cluster.address, namespace }, {});
  }, 1_200_000);
  afterAll(async () => {
    await client?.close();
    for (const each of machines) await each.end();
    await cluster.stop();
    files.remove();
    rmSync(effects, { recursive: true, force: true });
  });

  const linesOf = (name: string): string[] => {
    const path = join(effects, name);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  };

  /** Agents that run a command on `host` and a tool that runs once beside the agents, several times, by turns. */
  async function startAgents(prefix: string, host: string): Promise<Map<string, Promise<AgentResult>>> {
    const running = new Map<string, Promise<AgentResult>>();
    for (let n = 0; n < AGENTS; n++) {
      const id = uniqueId(prefix);
      const steps = Array.from({ length: STEPS }, (_, step) => [
        {
          text: call('code_execution_tool', {
            runtime: 'terminal',
            code: `echo ${step} >> ${effects}/${id}`,
          }),
          delayMs: 300,
        },
        { text: call('write_once', { file: join(effects, `${id}-once`), ms: 300 }), delayMs: 300 },
      ]).flat();
      const agent = client.agent(id);
      await agent.start({ task: 'go', host, ...files.settings([...steps, { text: 'done' }]) });
      running.set(id, agent.result());
    }
    return running;
  }

  /** Calls of agents that ended as unknown: these may have had their effect, and are not made again. */
  const unknownOf = async (id: string): Promise<number> => {
    const { messages } = await client.agent(id).transcript(0, 1_000);
    return messages.filter(
      (message) => message.role === 'tool' && /unknown_outcome/.test(JSON.stringify(message)),
    ).length;
  };

  async function expectEachOnce(running: Map<string, Promise<AgentResult>>): Promise<void> {
    for (const [id, result] of running) {
      expect(await result).toMatchObject({ reason: 'answered', answer: 'done' });
      expect([id, linesOf(id)]).toEqual([id, Array.from({ length: STEPS }, (_, step) => String(step))]);
      const once = linesOf(`${id}-once`);
      expect(new Set(once)).toEqual(new Set(['write_once 1']));
      expect(once.length).toBeLessThanOrEqual(STEPS);
      expect(once.length).toBeGreaterThanOrEqual(STEPS - (await unknownOf(id)));
    }
  }

  const madeProgress = (running: Map<string, unknown>, lines: number): boolean =>
    [...running.keys()].every((id) => linesOf(id).length >= lines);

  longTest(
    'the turns of a machine that is killed for good go on at another, and nothing is done twice',
    async () => {
      const [one, two] = [await machine('one'), await machine('two')];
      await Promise.all([one, two].map((each) => each.up('--host', each.name, '--tools', TOOLS)));
      const onOne = client.session({ agent: 'team', host: 'one', session: 0 });
      const marker = join(effects, 'on-one');
      const waiting = onOne.exec({ code: `echo ran >> ${marker}; sleep 1000`, yield: PATIENT });
      waiting.catch(() => undefined);
      await until(() => existsSync(marker));
      const running = await startAgents('killed', 'two');
      await until(() => madeProgress(running, 1));
      await one.die();
      await expectEachOnce(running);

      // What runs on its host is waited for; a session that would be opened there is refused.
      await until(async () => (await client.hosts.state('one')).status === 'offline');
      expect(await onOne.state()).toMatchObject({ status: 'running' });
      const another = client.session({ agent: 'team', host: 'one', session: 1 });
      await expect(another.exec({ code: 'echo late' })).rejects.toMatchObject({ code: 'host_offline' });
      expect(linesOf('on-one')).toEqual(['ran']);
    },
  );

  longTest('a third machine without a worker runs commands on a host, lists and waits', async () => {
    const three = await machine('three');
    const go = join(effects, 'go');
    const exec = ['exec', '--host', 'two', '--json'];
    const { stdout, stderr } = await three.cli(
      ...exec,
      '--yield-ms',
      '2000',
      `hostname; until [ -e ${go} ]; do sleep 0.1; done`,
    );
    expect([stdout !== '', stderr]).toEqual([true, '']);
    expect((JSON.parse(stdout) as CommandView).output).toBe('two\n');
    const listed = await three.cli('ps', '--json');
    const session = { workflowId: 'exec/cli/two/0', doing: expect.stringContaining('running') as string };
    expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining(session));
    writeFileSync(go, '');
    const waited = await three.cli('wait', '--host', 'two', '--json', '0');
    expect([waited.code, waited.stderr]).toEqual([0, '']);
    expect(waited.stdout).toContain('exited');
  });

  longTest(
    'a machine that is frozen and thawed when its turns have gone on elsewhere does nothing twice',
    async () => {
      const four = await machine('four');
      await four.up('--host', 'four', '--tools', TOOLS);
      const running = await startAgents('frozen', 'two');
      await until(() => madeProgress(running, 1));
      four.freeze();
      await until(() => madeProgress(running, STEPS), 120_000);
      four.thaw();
      await expectEachOnce(running);
      // It serves again: its own host's commands run.
      const { output } = await client
        .session({ agent: 'team', host: 'four', session: 0 })
        .exec({ code: 'hostname', yield: QUICK_YIELD });
      expect(output).toBe('four\n');
    },
  );
});
