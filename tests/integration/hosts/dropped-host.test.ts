// R3: a remote host whose cable is pulled while commands run there, and plugged in again.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sessionWorkflowId } from '../../../contracts/ids';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { NetworkLink, noNetworkLink } from '../../helpers/hosts/network-link';
import { RemoteHost } from '../../helpers/hosts/remote-host';
import { QUICK_YIELD } from '../../helpers/engines/temporal';
import { until } from '../../helpers/until';

const missing = noNetworkLink();
const whereLinked = missing === undefined ? describe : describe.skip;

whereLinked(`a host that drops and returns${missing ? ` (not checked: ${missing})` : ''}`, () => {
  const engine = new EngineOfItsOwn();
  const link = new NetworkLink();
  let far: RemoteHost;
  beforeAll(async () => {
    await engine.start();
    await link.open(Number(engine.server().address.split(':')[1]));
    far = new RemoteHost('far', link.address, link.before);
    await far.serve();
  }, 60_000);
  afterAll(async () => {
    link.mend();
    await far.end();
    await link.close();
    expect(await engine.end()).toEqual([]);
  }, 60_000);

  const shell = (session: number) => engine.client.session({ agent: 'dropped', host: 'far', session });
  const status = async (): Promise<string> => (await engine.client.hosts.state('far')).status;
  const lines = (name: string): string[] => {
    const path = join(far.root, name);
    return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  };
  /** How often a session's workflow has handed its command to the host. */
  const deliveries = async (session: number): Promise<number> => {
    const id = sessionWorkflowId({ agent: 'dropped', host: 'far', session });
    const { events } = await engine.client.temporal.workflow.getHandle(id).fetchHistory();
    return (events ?? []).filter(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'runCommand',
    ).length;
  };

  test('each command ran once and its whole output is there; input of the meantime was typed once or refused', async () => {
    const ends = { firstOutputMs: 300_000, betweenOutputMs: 300_000, maxMs: 300_000 };
    const count = (name: string): string => `echo begun >> ${name}; seq 1 2000`;
    // One that ends while the host is away, one that keeps running, one that gets input, one that is sent meanwhile.
    const endsAway = shell(0).exec(
      { code: `${count('away')}; until [ -e cut ]; do sleep 0.1; done; seq 2001 4000`, yield: ends },
      'away',
    );
    const on = {
      code: `${count('on')}; until [ -e mended ]; do sleep 0.1; done; seq 2001 4000; exit 7`,
      yield: ends,
    };
    const goesOn = shell(1).exec(on, 'on');
    const reads = (name: string): string => `while read -r line; do echo "$line" >> ${name}; done`;
    await shell(2).exec({ code: reads('typed'), yield: QUICK_YIELD });
    await shell(4).exec({ code: reads('given-up'), yield: QUICK_YIELD });
    await until(() => lines('away').length === 1 && lines('on').length === 1);
    expect(await status()).toBe('online');

    link.cut();
    writeFileSync(join(far.root, 'cut'), '');
    const typed = shell(2)
      .input({ keyboard: 'once', yield: QUICK_YIELD })
      .then(
        () => 1,
        () => 0,
      );
    const late = shell(3).exec({ code: 'echo begun >> late; echo late', yield: ends }, 'late');
    // One that the server gives up while it is in transit.
    shell(4)
      .input({ keyboard: 'nobody waits' })
      .catch(() => undefined);
    const workflow = engine.client.temporal.workflow.getHandle(shell(4).workflowId);
    await until(async () => {
      const { raw } = await workflow.describe();
      // A pending activity that has begun has a time of that.
      return (
        raw.pendingActivities?.some((a) => a.activityType?.name === 'sendInput' && a.lastStartedTime) ?? false
      );
    });
    await workflow.terminate('for good');
    await until(async () => (await status()) === 'offline');
    expect(await engine.client.hosts.state('far')).toMatchObject({ reason: 'it is silent' });
    // Handed over a second time, under the same id: to a host that knows it.
    await until(async () => (await deliveries(1)) === 2);
    link.mend();
    writeFileSync(join(far.root, 'mended'), '');
    const all = Array.from({ length: 4_000 }, (_, n) => `${n + 1}\n`).join('');
    const whole = async (session: number): Promise<string> => {
      let text = '';
      for (let from = 0; ;) {
        const page = await shell(session).output({ from, maxBytes: 65_536 });
        text += page.output;
        if (page.to === from) return text;
        from = page.to;
      }
    };
    expect(await endsAway).toMatchObject({ state: 'exited', exitCode: 0 });
    expect(await goesOn).toMatchObject({ state: 'exited', exitCode: 7 });
    expect(await whole(0)).toBe(all);
    expect(await whole(1)).toBe(all);
    expect(await late).toMatchObject({ state: 'exited', output: 'late\n' });
    expect([lines('away'), lines('on'), lines('late')]).toEqual([['begun'], ['begun'], ['begun']]);
    // The same id again is the same command.
    expect(await shell(1).exec(on, 'on')).toMatchObject({ exitCode: 7 });
    expect(lines('on')).toEqual(['begun']);
    const times = await typed;
    expect(lines('typed')).toHaveLength(times);
    await until(async () => (await status()) === 'online');
    expect(lines('given-up')).toEqual([]);
  }, 90_000);
});
