// The server of a data folder dies while its worker lives, and another folder's server gets its port.
import { readFileSync } from 'node:fs';
import { QueueClaims } from '../../../client/hosts/queue-claims';
import { MAIN_TASK_QUEUE } from '../../../contracts/ids';
import { folderKey } from '../../../contracts/sessions/claims';
import { dataFolderId } from '../../../exec/host/data-folder';
import { isAlive } from '../../../system/processes/process-identity';
import { workerPaths } from '../../../workers/process/worker-record';
import { EngineOfItsOwn } from '../../helpers/engines/engine-of-its-own';
import { until } from '../../helpers/until';

jest.setTimeout(120_000);

const [one, other] = [new EngineOfItsOwn({ ownServer: true }), new EngineOfItsOwn({ ownServer: true })];
afterAll(async () => {
  expect(await one.end()).toEqual([]);
  expect(await other.end()).toEqual([]);
}, 60_000);

test('a worker whose server was replaced by another folder’s at its port ends, claims nothing there, and says why', async () => {
  await one.startServer();
  const { identity } = await one.startWorker({ host: null });
  await one.killServer();
  const { port, uiPort, guard } = one.server();
  await until(() => !guard || !isAlive(guard));
  const ports = ['--port', String(port), '--ui-port', String(uiPort)];
  expect(await other.cli(['up', '--no-serve', ...ports])).toMatchObject({ code: 0 });
  await until(() => !isAlive(identity));
  expect(readFileSync(workerPaths(one.dataDir).log, 'utf8')).toContain(
    'the server of another data folder has taken it',
  );
  await other.connect();
  const claims = new QueueClaims(other.client.temporal, MAIN_TASK_QUEUE);
  expect(await claims.read(folderKey(dataFolderId(one.dataDir)))).toBeNull();
});
