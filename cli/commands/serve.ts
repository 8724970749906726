// `holdfast serve`: the gateway, in the foreground; and as the process that `holdfast up` starts.
import { once } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import type { MetricMeter } from '@temporalio/common';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { startGateway, type Gateway, type GatewayOptions } from '../../gateway/gateway';
import type { GatewayLog } from '../../gateway/gateway-context';
import { gatewayPaths, lastDetached, recordGateway } from '../../gateway/gateway-record';
import { keepBounded } from '../../system/log/bounded-log';
import { outliveLog } from '../../system/log/outlive-log';
import { tryListening } from '../../system/listen-at';
import { ProcessLog } from '../../system/log/process-log';
import { waitForTurn } from '../../system/processes/detached-process';
import { ownRelease } from '../../system/package-root';
import { chosenConfig } from '../../workers/configuration/recorded-choice';
import { readClientSettings } from '../../workers/configuration/read-client-settings';
import { readGateway } from '../../workers/configuration/read-gateway';
import type { TelemetrySettings } from '../../workers/configuration/configured-telemetry';
import { publishedRegistry } from '../../workers/tools/registry-record';
import { openSpans } from '../../workers/telemetry/span-exporter';
import { isElsewhere, isOwn, openContext, workflowAddress } from '../context';
import { configOf, type GlobalOptions } from '../global-options';
import type { CliContext } from '../open-context';
import { printJson } from '../print/print-json';
import { note } from '../terminal/terminal-style';
import { pageLink } from '../gateway/page-link';
import { Option } from 'commander';
import { collect, listenAddress } from '../arguments';
import { action, examples, type Define } from '../define-command';

interface ServeOptions extends GlobalOptions {
  listen?: string;
  name?: string[];
  /** Prints a link that logs an admin in, also where no person looks. */
  link?: boolean;
  /** For `holdfast up`, which finds it by its record: nothing is printed. */
  detached?: boolean;
}

export const define: Define = (command) =>
  command
    .option('--listen <address:port>', 'where; port 0: any free one (default: 127.0.0.1:7280)', listenAddress)
    .addOption(new Option('--detached', 'as the process of `holdfast up`').hideHelp())
    .option(
      '--name <name>',
      'a further name under which it is reached, such as agents.example.org; may be repeated',
      collect,
    )
    .option('--link', 'print a link that logs an admin in; without it only at a terminal')
    .addHelpText(
      'after',
      examples(
        'holdfast serve                                        on this machine; at a terminal it prints a link that logs in',
        'holdfast serve --listen 0.0.0.0:7280 --name agents.example.org --json',
        'holdfast token create ci --role operator --agents "ci-*" --valid 30d',
      ),
    )
    .action(action(serve));

/** Like a program ended by SIGINT. */
const INTERRUPTED = 128 + 2;
/** Short: the gateway's clients have timeouts of their own, and can ask again. */
const PATIENCE_MS = 5_000;
const DEFAULT_LISTEN = '127.0.0.1:7280';

/**
 * The heap for young objects stays as large as it was when the program was loaded. Where there is much memory, V8 lets
 * it grow to 128 MB in a burst, and keeps that: more than all that hundreds of connections hold.
 */
const KEEP_YOUNG_HEAP = '--semi-space-growth-factor=1';

/** For people. */
const NOTES: GatewayLog = {
  warn: (text, facts) => note(facts === undefined ? text : `${text} ${JSON.stringify(facts)}`),
};

/** Serves until Ctrl-C. */
async function serve(options: ServeOptions): Promise<number> {
  setFlagsFromString(KEEP_YOUNG_HEAP);
  const ended = Promise.race(
    (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((name) => once(process, name).then(() => name)),
  );
  const { detached = false } = options;
  if (detached) {
    outliveLog();
    await waitForTurn();
  }
  // Before a server and a worker are started for it.
  else await tryListening(options.listen ?? DEFAULT_LISTEN, '--listen');
  await using context = await openContext(options, {
    ...{ start: true, staysStopped: detached, staysOnFullDisk: true, answersOthers: true },
    ownConfig: true,
    patienceMs: PATIENCE_MS,
  });
  const { client, dataDir, namespace } = context;
  const config = chosenConfig(dataDir, configOf(options));
  const { oidc, log: settings, telemetry } = readGateway(dataDir, config, process.env);
  const log = detached || options.json ? new ProcessLog('gateway', settings.level) : NOTES;
  checkWorkers(context, config, log);
  const stopKeeping = keepBounded(gatewayPaths(dataDir).log, settings, (text, facts) =>
    log.warn(text, facts),
  );
  const spans = await openSpans(telemetry, 'gateway', (message, facts) => log.warn(message, facts));
  const gateway = await startAtFirstFree(placesFor(options, dataDir), {
    ...{ client, dataDir, namespace },
    names: options.name ?? [],
    oidc,
    workflowAddress: (workflowId) => workflowAddress(context, workflowId),
    // Asked anew: the next `up` may have started a worker that serves another host.
    isLocal: (host) => isOwn(context, host),
    isElsewhere: (host) => isElsewhere(context, host),
    hostToken: process.env.HOLDFAST_HOST_TOKEN?.trim() || undefined,
    registry: () => publishedRegistry(dataDir),
    log,
    meter: await meterOf(telemetry),
    reportSpan: spans?.reportSpan ?? null,
  });
  const forget = recordGateway(dataDir, factsOf(gateway.url, { context, options, config }), detached);
  try {
    if (!detached) await printPlace(options, dataDir, gateway.url);
    return (await ended) === 'SIGINT' ? INTERRUPTED : 0;
  } finally {
    stopKeeping();
    forget();
    await gateway.close();
    await spans?.close();
  }
}

const factsOf = (
  url: string,
  {
    context: { client, namespace },
    options,
    config,
  }: { context: CliContext; options: ServeOptions; config: string | null },
): Parameters<typeof recordGateway>[1] => ({
  url,
  address: client.address,
  namespace,
  queue: client.server.queue,
  listen: options.listen ?? null,
  config,
  profile: options.profile ?? null,
  release: ownRelease(),
});

/** The SDK's exporter, as in workers: its native code is loaded only if metrics are wanted. */
async function meterOf(telemetry: TelemetrySettings): Promise<MetricMeter | null> {
  const { prometheusGateway, otlp } = telemetry;
  if (prometheusGateway === null && otlp === null) return null;
  const { DefaultLogger, Runtime } = await import('@temporalio/worker');
  const { installRuntime, metricsExporter } = await import('../../workers/telemetry/install-runtime');
  const metrics = metricsExporter(telemetry, prometheusGateway, process.env);
  const warn = (message: string, { reason }: { reason: string }): void => note(`${message}: ${reason}`);
  installRuntime({ logger: new DefaultLogger('ERROR'), metrics, warn });
  return Runtime.instance().metricMeter;
}

/**
 * The worker may have been started with another configuration, and keeps it. Throws `invalid_input` if it would not be able to read
 * what is sent through this gateway, or would refuse it.
 */
function checkWorkers({ worker, dataDir }: CliContext, config: string | null, log: GatewayLog): void {
  if (!worker || worker.config === config) return;
  const [own, its] = [config, worker.config].map((one) => readClientSettings(dataDir, one).encryption);
  const [named, kept] = [config, worker.config].map((one) => one ?? 'that of the data folder');
  if (!isDeepStrictEqual(own, its))
    throw new HoldfastError('invalid_input', {
      what: '--config',
      got: `${named}, whose [encryption] is not that of the running worker`,
      allowed: `a configuration with the same keys as ${kept}`,
      next: `\`holdfast up --config FILE\` gives the worker another configuration; it was left as it is.`,
    });
  log.warn('the worker keeps its own configuration: `holdfast up --config FILE` gives it another', {
    gateway: named,
    worker: kept,
  });
}

/** A link lets its finder in as an admin: it gets into no journal and no log of a container, unless it is asked for. */
async function printPlace({ json, link: asked }: ServeOptions, dataDir: string, url: string): Promise<void> {
  const isForPerson = !json && process.stdout.isTTY;
  const link = asked || isForPerson ? await pageLink(dataDir, url, 'admin') : undefined;
  if (json) return printJson({ url, ...(link !== undefined && { link }), pid: process.pid });
  process.stdout.write(`page             ${link ?? url}\n`);
  process.stdout.write(`API              ${url}/openapi.json\n`);
  const ofLink =
    link === undefined
      ? '`holdfast ui` makes a link that logs in.'
      : 'The link works once, for ten minutes; `holdfast ui` makes another.';
  note(`${ofLink} Programs use \`holdfast token create\`.`);
}

/** Where to listen, in order. Without a choice, `holdfast up` is content with any port: it prints the link. */
function placesFor({ listen, detached }: ServeOptions, dataDir: string): [string, ...string[]] {
  if (listen !== undefined) return [listen];
  if (!detached) return [DEFAULT_LISTEN];
  const before = lastDetached(dataDir)?.url.replace('http://', '');
  // Of one that was to listen elsewhere, only the port is of interest: this command did not ask for that address.
  const samePort = before && `127.0.0.1:${before.slice(before.lastIndexOf(':') + 1)}`;
  return [samePort ?? DEFAULT_LISTEN, DEFAULT_LISTEN, '127.0.0.1:0'];
}

async function startAtFirstFree(
  [listen, next, ...rest]: [string, ...string[]],
  options: Omit<GatewayOptions, 'listen'>,
): Promise<Gateway> {
  try {
    return await startGateway({ ...options, listen });
  } catch (err) {
    if (next === undefined || !(err instanceof HoldfastError) || err.code !== 'port_in_use') throw err;
    return startAtFirstFree([next, ...rest], options);
  }
}
