// What the worker loads and runs itself must be nothing that code in the sandbox of its host can write. What can be
// mounted read-only is; the rest is refused, with its folder named.
import { dirname, join, resolve } from 'node:path';
import { statSync } from 'node:fs';
import { HoldfastError } from '../contracts/errors';
import { defaultCacheDir } from '../engine/data-dir';
import type { SandboxChoice } from '../exec/sandbox/open-sandbox';
import { isWithin, real, writableRoots } from '../exec/sandbox/profile';
import { findTrusted, placesOn, trustedPath, whyUntrusted } from '../exec/trusted-program';
import { usualWorkingFolder } from '../exec/working-folder';
import type { McpServerSettings } from '../tools/mcp/settings';
import type { SecretSettings } from './configured-secrets';
import { recordedConfig, recordedWorkdir } from './recorded-choice';
import { configurationSource, readConfiguration, type Configuration } from './configuration';

/** The folders that code in the sandbox may write, by real paths: none without a sandbox. */
export interface Exposed {
  roots: readonly string[];
  /** Hidden from it, wherever it lies. */
  dataDir: string;
}

interface Place {
  /** As a sentence begins. */
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

/** What a person says of a worker; what is not said is as before, and null is the usual. */
interface Choice {
  dataDir: string;
  config?: string | null | undefined;
  workdir?: string | null | undefined;
}

/** Of the configuration as it is now. Throws `config_invalid`. */
export function exposedNow({
  dataDir,
  config = recordedConfig(dataDir),
  workdir = recordedWorkdir(dataDir) ?? process.env.HOLDFAST_WORKDIR ?? null,
}: Choice): Exposed {
  const { sandbox } = readConfiguration(configurationSource({ dataDir, config: config ?? undefined }));
  return exposedBy(sandbox, { dataDir, workdir });
}

/** The folder that gives a path to code in the sandbox: itself, or a folder or link on the way to it. */
function rootOf(path: string, { roots, dataDir }: Exposed): string | undefined {
  for (const place of placesOn(path)) {
    const root = roots.find((one) => isWithin(place.path, one));
    if (root === undefined) continue;
    // Hidden as a whole there, and folders above it are kept from being renamed.
    const isAbove = isWithin(dataDir, place.path) && !place.stats?.isSymbolicLink();
    if (isWithin(dataDir, root) && (isWithin(place.path, dataDir) || isAbove)) continue;
    return root;
  }
  return undefined;
}

/** Throws `config_invalid` that names each of these and the folder that gives it away. */
export function refuseExposed(places: readonly Place[], exposed: Exposed): void {
  const faults = places.flatMap(({ what, path }) => {
    const root = rootOf(path, exposed);
    if (root === undefined) return [];
    return [`${what} ${path} can be changed from the sandbox, because ${root} may be written in it`];
  });
  if (faults.length > 0)
    throw new HoldfastError('config_invalid', { faults: `${faults.join('; ')}. Move it out of there.` });
}

export const moduleFiles = (files: readonly string[]): Place[] =>
  files.map((path) => ({ what: 'The tool module', path }));

const CODE = /\.([cm]?[jt]sx?|py|sh|bash|rb|pl|php|jar|wasm|lua|so)$/i;

/** Whether a word of a command line names a file that its program is likely to run, and not one that it only reads. */
function isCode(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.isFile() && (CODE.test(path) || (stats.mode & 0o111) !== 0);
}

/** What holds keys, or is run: read-only is not enough, or not known to be all of it. Throws `config_invalid`. */
export function refuseExposedParts(
  { modules, encryption, models, secrets }: Configuration,
  exposed: Exposed,
): void {
  const [program, ...words] = secrets.command ?? [];
  const command = [...(program?.includes('/') ? [program] : []), ...words.map((word) => resolve(word))];
  refuseExposed(
    [
      ...moduleFiles(modules),
      ...encryption.keys.flatMap((key) => ('file' in key ? [{ what: 'The key', path: key.file }] : [])),
      ...Object.values(models.providers).flatMap(({ key }) =>
        key && 'file' in key ? [{ what: 'The key', path: key.file }] : [],
      ),
      ...(secrets.file === null ? [] : [{ what: 'The file of secrets', path: secrets.file }]),
      ...command.filter(isCode).map((path) => ({ what: 'What `secrets.command` runs,', path })),
    ],
    exposed,
  );
}

/**
 * What is to be read-only wherever it lies: the configuration and what it names. Throws `config_invalid` where a link
 * in such a folder leads to one of these: over a link nothing can be mounted.
 */
export function loadedPlaces({ roles, dialects }: Configuration, file: string, exposed: Exposed): string[] {
  const cache = defaultCacheDir(process.env);
  const places = [file, roles, dialects.promptFolder, join(cache, 'compiled')].filter(
    (path) => path !== undefined,
  );
  const linked = places.filter((path) =>
    placesOn(path).some(
      ({ path: at, stats }) => stats?.isSymbolicLink() && rootOf(dirname(at), exposed) !== undefined,
    ),
  );
  refuseExposed(
    linked.map((path) => ({ what: 'By a link, the configuration’s', path })),
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

/** Whether code in the sandbox could write it, but for what is mounted over it. */
export const isExposed = (path: string, exposed: Exposed): boolean => rootOf(path, exposed) !== undefined;

/**
 * A program that the worker runs, by a name or a path, and the PATH of what it starts in turn. Without a sandbox, and
 * where there is none of that name, as it was. Throws `config_invalid` where there is one only in an exposed folder.
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

/** The program that prints secrets, by a place that nobody in the sandbox can change. Throws as `outsideProgram`. */
export function trustedSecrets(settings: SecretSettings, exposed: Exposed): SecretSettings {
  const [name, ...words] = settings.command ?? [];
  if (name === undefined || exposed.roots.length === 0) return settings;
  const { program, path } = outsideProgram(name, exposed);
  return { ...settings, command: [program, ...words], path };
}

/**
 * What the Temporal server is found and started with. Throws `config_invalid` where what is named or kept for it is
 * exposed.
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
