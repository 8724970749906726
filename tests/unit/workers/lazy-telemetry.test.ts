// What is not configured is not loaded: it would cost each start.
import { runDist } from '../../helpers/engines/dist-process';

const LOADED = `
  for (const name of args) load(name);
  console.log(Object.keys(require.cache).filter((path) => /@opentelemetry.(sdk|exporter|resources)/.test(path)).length);
  console.log(Object.keys(require.cache).filter((path) => /core-bridge/.test(path)).length);`;

test('neither the worker nor the command line loads OpenTelemetry, and the gateway not the native code', async () => {
  const worker = runDist(LOADED, 'workers/create-workers');
  expect(await worker.nextLine()).toBe('0');
  const line = runDist(LOADED, 'cli/commands/serve', 'cli/commands/run', 'cli/commands/up');
  expect([await line.nextLine(), await line.nextLine()]).toEqual(['0', '0']);
  await Promise.all([worker.ended, line.ended]);
}, 60_000);
