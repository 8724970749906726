// The options that a data folder's worker was started with, recorded there for the next start. A damaged record must not
// count as no choice: the worker would run without its policy, its sandbox and its encryption.
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { readJson, writeJson } from '../../system/json-file';
import { readText } from '../../system/processes/proc';

interface Choice {
  file: string;
  /** What gives it again. */
  option: string;
}

const TOOLS: Choice = { file: 'tools.json', option: '--tools or --no-tools' };
const WORKDIR: Choice = { file: 'workdir.json', option: '--workdir or --no-workdir' };
const HOST: Choice = { file: 'host.json', option: '--host' };
const QUEUE: Choice = { file: 'queue.json', option: '--queue or --no-queue' };
const CONFIG: Choice = { file: 'config.json', option: '--config or --no-config' };

/** The options of `up` that the next start takes, too, unless it is given others. */
export interface WorkerOptions {
  tools: readonly string[];
  /** Null: the data folder's, if it exists. */
  config: string | null;
  /** Null: the default. */
  workdir: string | null;
  queue: string | null;
}

/** The tool modules that the data folder's worker loads. This and the others throw `config_invalid` for a damaged record. */
export const recordedTools = (dataDir: string): string[] => read(dataDir, TOOLS, isListOfTexts) ?? [];

/** The configuration that the user named; null: the data folder's, if it exists. */
export const recordedConfig = (dataDir: string): string | null => read(dataDir, CONFIG, isText) ?? null;

/** The configuration that counts, if this one was asked for: null for the data folder's, undefined for the one as before. */
export const chosenConfig = (
  dataDir: string,
  config: string | null | undefined = recordedConfig(dataDir),
): string | null => config;

/** The folder that the user named for new shells; null: the default. */
export const recordedWorkdir = (dataDir: string): string | null => read(dataDir, WORKDIR, isText) ?? null;

/** The host that the user named; undefined: none was named. */
export const recordedHost = (dataDir: string): string | undefined => read(dataDir, HOST, isText);

/** The task queue that the user named for its agents; null: the default. */
export const recordedQueue = (dataDir: string): string | null => read(dataDir, QUEUE, isText) ?? null;

/** By the worker itself, before it says that it is ready: its starter may be gone by then. */
export function recordOptions(dataDir: string, { tools, config, workdir, queue }: WorkerOptions): void {
  record(dataDir, CONFIG, config);
  record(dataDir, TOOLS, tools.length > 0 ? tools : null);
  record(dataDir, WORKDIR, workdir);
  record(dataDir, QUEUE, queue);
}

export const recordHost = (dataDir: string, host: string): void => record(dataDir, HOST, host);

const isText = (value: unknown): value is string => typeof value === 'string';
const isListOfTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

function read<T>(
  dataDir: string,
  { file, option }: Choice,
  isValue: (value: unknown) => value is T,
): T | undefined {
  const path = join(dataDir, file);
  const value = readJson<unknown>(path);
  if (isValue(value)) return value;
  if (!statSync(path, { throwIfNoEntry: false })) return undefined;
  throw new HoldfastError('config_invalid', {
    faults: `${path}, which records a choice of the last \`holdfast up\`, is damaged: give \`holdfast up\` the option again (${option}).`,
  });
}

/** A power failure must not leave it empty. */
function record(dataDir: string, { file }: Choice, value: unknown): void {
  const path = join(dataDir, file);
  if (value === null) rmSync(path, { force: true });
  else if (readText(path) !== JSON.stringify(value)) writeJson(path, value, { flush: true });
}
