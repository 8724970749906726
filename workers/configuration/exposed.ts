// Code in the host's sandbox must not be able to write anything that the worker itself loads or runs. Where a read-only
// mount is possible, it is used; the rest is refused, naming the folder.
import { dirname, join, resolve } from 'node:path';
import { statSync } from 'node:fs';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { defaultCacheDir } from '../../system/data-dir';
import type { SandboxChoice } from '../../exec/sandbox/open-sandbox';
import { isWithin, real } from '../../exec/real-path';
import { writableRoots } from '../../exec/sandbox/profile';
import { findTrusted, placesOn, trustedPath, whyUntrusted } from '../../exec/trusted-program';
import { usualWorkingFolder } from '../../exec/working-folder';
import type { McpServerSettings } from '../../tools/mcp/mcp-settings';
import type { SecretSettings } from './configured-secrets';
import { recordedWorkdir } from './recorded-choice';
import { workersConfiguration, type Configuration } from './configuration';

/** The folders that code in the sandbox may write, as real paths: none without a sandbox. */
export interface Exposed {
  roots: readonly string[];
  /** Hidden from the sandbox, wherever it lies. */
  dataDir: string;
}

interface Place {
  /** A phrase to begin a sentence with. */
  what: string;
  path: string;
}

function exposedBy(
  { mode, writable }: Pick<SandboxChoice, 'mode' | 'writable'>,
  { dataDir, workdir }: { dataDir: string; workdir: string | null },
): Exposed {
  const roots =
    mode === 'off'
      ? []
      : writableRoots({ workspace: workdir ?? usualWorkingFolder(dataDir), writable }).map(real);
  return { roots, dataDir: real(dataDir) };
}

/** What the user chose for a worker: undefined means as before, null means the default. */
interface Choice {
  dataDir: string;
  config?: string | null | undefined;
  workdir?: string | null | undefined;
}

/** Based on the current configuration. Throws `config_invalid`. */
export function exposedNow({
  dataDir,
  config,
  workdir = recordedWorkdir(dataDir) ?? process.env.HOLDFAST_WORKDIR ?? null,
}: Choice): Exposed {
  const { sandbox } = workersConfiguration(dataDir, config);
  return exposedBy(sandbox, { dataDir, workdir });
}

/** The writable folder that exposes a path: it contains the path itself, or a folder or link on the way to it. */
function rootOf(path: string, { roots, dataDir }: Exposed): string | undefined {
  for (const place of placesOn(path)) {
    const root = roots.find((one) => isWithin(place.path, one));
    if (root === undefined) continue;
    // Hidden in the sandbox, and its parent folders cannot be renamed there.
    const isAbove = isWithin(dataDir, place.path) && !place.stats?.isSymbolicLink();
    if (isWithin(dataDir, root) && (isWithin(place.path, dataDir) || isAbove)) continue;
    return root;
  }
  return undefined;
}

/** Throws `config_invalid`, which names each exposed path with its folder. */
export function refuseExposed(places: readonly Place[], exposed: Exposed): void {
  const faults = places.flatMap(({ what, path }) => {
    const root = rootOf(path, exposed);
    if (root === undefined) return [];
    return [`${what} ${path} can be changed from the sandbox, because ${root} is writable there`];
  });
  if (faults.length > 0)
    throw new HoldfastError('config_invalid', { faults: `${faults.join('; ')}. Move it out of there.` });
}

export const moduleFiles = (files: readonly string[]): Place[] =>
  files.map((path) => ({ what: 'The tool module', path }));

const CODE = /\.([cm]?[jt]sx?|py|sh|bash|rb|pl|php|jar|wasm|lua|so)$/i;

/**
 * Whether an argument names a file that its program is likely to run, not just read. One that this user may not look at
 * could be: its program may run as somebody else. Most arguments are no paths at all.
 */
function isCode(path: string): boolean {
  try {
    const stats = statSync(path);
    return stats.isFile() && (CODE.test(path) || (stats.mode & 0o111) !== 0);
  } catch (err) {
    return (err as NodeJS.ErrnoException).code === 'EACCES';
  }
}

/** A key or a secret is in a file or in a variable of the environment. */
const fileOf = (what: string, source: { file: string } | object | null | undefined): Place[] =>
  source && 'file' in source ? [{ what, path: source.file }] : [];

/** The secret of the OpenID Connect client, which the gateway reads when it starts. */
export const clientSecretFiles = ({ gateway: { oidc } }: Configuration): Place[] =>
  fileOf('The secret of the OpenID Connect client', oidc?.clientSecret);

/** Keys and programs: read-only is not enough, or not known to cover everything. Throws `config_invalid`. */
export function refuseExposedParts(configuration: Configuration, exposed: Exposed): void {
  const { modules, encryption, models, secrets, webhooks } = configuration;
  const [program, ...words] = secrets.command ?? [];
  const command = [...(program?.includes('/') ? [program] : []), ...words.map((word) => resolve(word))];
  refuseExposed(
    [
      ...moduleFiles(modules),
      ...encryption.keys.flatMap((key) => fileOf('The key', key)),
      ...Object.values(models.providers).flatMap(({ key }) => fileOf('The key', key)),
      ...webhooks.flatMap(({ secret }) => fileOf('The secret of a webhook', secret)),
      ...clientSecretFiles(configuration),
      ...(secrets.file === null ? [] : [{ what: 'The file of secrets', path: secrets.file }]),
      ...command.filter(isCode).map((path) => ({ what: 'The program or script of `secrets.command`', path })),
    ],
    exposed,
  );
}

/**
 * What must be read-only wherever it is: the configuration and the files that it names. Throws `config_invalid` if a
 * link in an exposed folder leads to one of these: nothing can be mounted over a link. The same for the folders of the
 * sandbox: code that can change such a link decides what the next session can write, or see.
 */
export function loadedPlaces(
  { roles, dialects, sandbox }: Configuration,
  file: string,
  exposed: Exposed,
): string[] {
  const cache = defaultCacheDir(process.env);
  const places = [file, roles, dialects.promptFolder, join(cache, 'compiled')].filter(
    (path) => path !== undefined,
  );
  const shown = [...sandbox.writable, ...sandbox.readable, ...sandbox.hidden];
  const linked = [...places, ...shown].filter((path) =>
    placesOn(path).some(
      ({ path: at, stats }) => stats?.isSymbolicLink() && rootOf(dirname(at), exposed) !== undefined,
    ),
  );
  refuseExposed(
    linked.map((path) => ({ what: 'Through a link, the configured path', path })),
    exposed,
  );
  return [
    ...places,
    ...(process.env.NODE_PATH ?? '')
      .split(':')
      .filter(Boolean)
      .map((path) => resolve(path)),
  ];
}

/** Whether code in the sandbox could write it if nothing were mounted over it. */
export const isExposed = (path: string, exposed: Exposed): boolean => rootOf(path, exposed) !== undefined;

/**
 * Resolves a program that the worker runs, and the PATH for its child processes. Unchanged without a sandbox, or if
 * there is no such program. Throws `config_invalid` if the only one found is in an exposed folder.
 */
export function outsideProgram(
  name: string,
  { roots }: Exposed,
  path = process.env.PATH,
): { program: string; path: string | undefined } {
  if (roots.length === 0) return { program: name, path };
  const found = name.includes('/') ? named(name, roots) : findTrusted(name, { path, roots });
  if (found.refused !== undefined)
    throw new HoldfastError('config_invalid', {
      faults: `${name} is run outside of the sandbox and found only as ${found.refused}.`,
    });
  return { program: found.path ?? name, path: trustedPath({ path, roots }) };
}

function named(path: string, roots: readonly string[]): ReturnType<typeof findTrusted> {
  const why = whyUntrusted(path, roots);
  return why === undefined ? { path } : { refused: `${path}, ${why}` };
}

/** The program that prints secrets, by a path that cannot be changed in the sandbox. Throws like `outsideProgram`. */
export function trustedSecrets(settings: SecretSettings, exposed: Exposed): SecretSettings {
  const [name, ...words] = settings.command ?? [];
  if (name === undefined || exposed.roots.length === 0) return settings;
  const { program, path } = outsideProgram(name, exposed);
  return { ...settings, command: [program, ...words], path };
}

/**
 * The environment for finding and starting the Temporal server. Throws `config_invalid` if one of its paths is exposed.
 */
export function engineEnvironment(choice: Choice): NodeJS.ProcessEnv {
  const exposed = exposedNow(choice);
  if (exposed.roots.length === 0) return process.env;
  const named = process.env.HOLDFAST_TEMPORAL_CLI;
  refuseExposed(
    [
      ...(named ? [{ what: 'HOLDFAST_TEMPORAL_CLI', path: resolve(named) }] : []),
      { what: 'The cache', path: defaultCacheDir(process.env) },
    ],
    exposed,
  );
  return { ...process.env, PATH: trustedPath({ path: process.env.PATH, roots: exposed.roots }) };
}

/** MCP servers run outside: one that code in the sandbox could replace is not started, and says why. */
export function trustedServer(server: McpServerSettings, exposed: Exposed): McpServerSettings {
  const { transport } = server;
  if (exposed.roots.length === 0 || transport.kind !== 'stdio') return server;
  const { command, args, cwd, env } = transport;
  try {
    const files = args.map((word) => resolve(cwd, word)).filter(isCode);
    refuseExposed(
      [{ what: 'Its working folder', path: cwd }, ...files.map((path) => ({ what: 'Its file', path }))],
      exposed,
    );
    const { program, path } = outsideProgram(command, exposed, env.PATH);
    return {
      ...server,
      transport: { ...transport, command: program, env: { ...env, ...(path && { PATH: path }) } },
    };
  } catch (err) {
    if (!(err instanceof HoldfastError)) throw err;
    return { ...server, fault: server.fault ?? err.message };
  }
}
