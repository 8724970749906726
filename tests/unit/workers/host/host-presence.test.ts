import { HostPresence, type HostPresenceOptions } from '../../../../workers/host/host-presence';
import { until } from '../../../helpers/until';

afterEach(() => jest.restoreAllMocks());

test('a host whose clock is set back by hours announces itself again as soon as the server has given up its lease', async () => {
  let announced = 0;
  const given: Partial<Record<keyof HostPresenceOptions, unknown>> = {
    host: 'pi',
    sessions: { options: { cwd: '/', treeKill: 'none', sandbox: undefined } },
    access: { current: 'all' },
    directory: { announce: () => Promise.resolve(void (announced += 1)) },
    listens: () => null,
    log: () => undefined,
  };
  const presence = new HostPresence(given as unknown as HostPresenceOptions);
  presence.start();
  try {
    await until(() => announced === 1);
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now - 7_200_000);
    await until(() => announced === 2);
  } finally {
    await presence.stop();
  }
});
