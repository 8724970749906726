// `holdfast up`: the embedded server and its worker; or only a worker, for a server that is named.
import { resolve } from 'node:path';
import { openContext, type GlobalOptions } from '../context';
import { printJson } from '../print-json';

export interface UpOptions extends GlobalOptions {
  port?: number;
  uiPort?: number;
  /** False for `--no-workdir`. */
  workdir?: string | false;
  /** False for `--no-tools`. */
  tools?: string[] | false;
}

export async function up(options: UpOptions): Promise<number> {
  const { port, uiPort } = options;
  const workdir = options.workdir === false ? null : options.workdir && resolve(options.workdir);
  const tools = options.tools === false ? [] : options.tools?.map((file) => resolve(file));
  await using context = await openContext(options, {
    start: true,
    startWorker: true,
    staysOnFullDisk: true,
    port,
    uiPort,
    workdir,
    tools,
  });
  const { client, namespace, uiUrl, dataDir, worker } = context;
  const facts = {
    address: client.address,
    namespace,
    uiUrl,
    dataDir,
    workerPid: worker?.identity.pid ?? null,
  };
  if (options.json) printJson(facts);
  else {
    process.stdout.write(
      `Temporal server  ${facts.address} (namespace ${namespace})\n` +
        (uiUrl ? `web UI           ${uiUrl}\n` : '') +
        `worker           pid ${facts.workerPid}, shells begin in ${worker?.cwd}\n` +
        `data             ${dataDir}\n`,
    );
  }
  return 0;
}
