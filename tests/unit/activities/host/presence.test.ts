// Whether a host knows that the server has registered it: if not, it keeps announcing itself.
import { MockActivityEnvironment } from '@temporalio/testing';
import { Presence } from '../../../../activities/host/presence';

test('a lease that was given up and ends late does not end what the next one holds', async () => {
  const presence = new Presence('me');
  const { activities } = presence;
  const holdLease = (input: { instance: string }): Promise<unknown> => activities.holdLease(input);
  const [first, second] = [new MockActivityEnvironment(), new MockActivityEnvironment()];
  const late = first.run(holdLease, { instance: 'me' });
  const held = second.run(holdLease, { instance: 'me' });
  expect(presence.holdsLease).toBe(true);
  first.cancel();
  await late;
  expect(presence.holdsLease).toBe(true);
  presence.end();
  await held;
  expect(presence.holdsLease).toBe(false);
});
