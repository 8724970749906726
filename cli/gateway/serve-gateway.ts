// `holdfast serve`: the gateway, in the foreground.
import { once } from 'node:events';
import { ALL_AGENTS } from '../../gateway/access/grants';
import { startGateway } from '../../gateway/gateway';
import { loginLink, recordGateway } from '../../gateway/gateway-record';
import { publishedRegistry } from '../../workers/configuration/registry-record';
import { isLocal, openContext, workflowAddress, type GlobalOptions } from '../context';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';

export interface ServeOptions extends GlobalOptions {
  listen: string;
  name?: string[];
}

/** Like a program ended by SIGINT. */
const INTERRUPTED = 128 + 2;

/** Serves until Ctrl-C. */
export async function serve(options: ServeOptions): Promise<number> {
  const ended = Promise.race(
    (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => once(process, name).then(() => name)),
  );
  await using context = await openContext(options, { start: true, staysOnFullDisk: true });
  const { client, dataDir, namespace } = context;
  const gateway = await startGateway({
    ...{ client, dataDir, namespace },
    listen: options.listen,
    names: options.name ?? [],
    workflowAddress: (workflowId) => workflowAddress(context, workflowId),
    isLocal: (host) => isLocal(context, host),
    hostToken: process.env.HOLDFAST_HOST_TOKEN?.trim() || undefined,
    registry: () => publishedRegistry(dataDir),
    warn: note,
  });
  const forget = recordGateway(dataDir, gateway.url);
  try {
    const token = await gateway.tokens.createLogin({
      name: 'the one who started it',
      role: 'admin',
      agents: [ALL_AGENTS],
    });
    const link = loginLink(gateway.url, token);
    if (options.json) printJson({ url: gateway.url, link, pid: process.pid });
    else {
      process.stdout.write(`page             ${link}\n`);
      process.stdout.write(`API              ${gateway.url}/openapi.json\n`);
      note(
        'The link works once, for ten minutes; `holdfast ui` makes another. Programs use `holdfast token create`.',
      );
    }
    return (await ended) === 'SIGINT' ? INTERRUPTED : 0;
  } finally {
    forget();
    await gateway.close();
  }
}
