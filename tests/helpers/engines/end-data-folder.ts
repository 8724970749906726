// Ends everything that runs for a data folder, as `holdfast down --sessions` does, without a process for it.
import { writeFileSync } from 'node:fs';
import { stopGateway } from '../../../cli/gateway/gateway-process';
import { stopMarker } from '../../../system/processes/stop-marker';
import { stopServer } from '../../../engine/server';
import { detectTreeKill } from '../../../exec/processes/process-tree';
import { SessionHost } from '../../../exec/host/session-host';
import { endLeftOverSpares } from '../../../exec/host/holders/spare-holder';
import { stopWorker } from '../../../workers/process/worker-process';

export async function endDataFolder(dataDir: string): Promise<void> {
  // Command lines that still watch must not start the server again.
  writeFileSync(stopMarker(dataDir), '');
  await stopGateway(dataDir);
  await stopWorker(dataDir);
  const host = new SessionHost({ dataDir, cwd: '/', env: {}, treeKill: detectTreeKill() });
  await host.closeAll('the tests have ended');
  host.detach();
  await endLeftOverSpares(dataDir);
  await stopServer(dataDir);
}
