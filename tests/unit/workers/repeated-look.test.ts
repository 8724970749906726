import { RepeatedLook } from '../../../workers/repeated-look';
import { until } from '../../helpers/until';

test('its end waits for the look that has begun, and none begins after it', async () => {
  const began: (() => void)[] = [];
  const looks = new RepeatedLook(
    () => new Promise<void>((resolve) => began.push(resolve)),
    () => undefined,
    1,
  );
  looks.start();
  await until(() => began.length === 1);
  let hasEnded = false;
  const ended = looks.end().then(() => (hasEnded = true));
  await new Promise(setImmediate);
  expect(hasEnded).toBe(false);
  began[0]?.();
  await ended;
  // Many times the pause between two looks.
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(began).toHaveLength(1);
});

test('without a look under way its end resolves at once', async () => {
  const looks = new RepeatedLook(
    () => Promise.resolve(),
    () => undefined,
  );
  looks.start();
  await looks.end();
});

test('its end waits only a few seconds for a look that does not end', async () => {
  const look = jest.fn(() => new Promise<void>(() => undefined));
  const looks = new RepeatedLook(look, () => undefined, 1);
  looks.start();
  await until(() => look.mock.calls.length === 1);
  await looks.end();
}, 10_000);
