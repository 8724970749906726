// The options that a data folder's worker was started with, recorded there for the next start.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from '../../system/json-file';

const toolsPath = (dataDir: string): string => join(dataDir, 'tools.json');
const workdirPath = (dataDir: string): string => join(dataDir, 'workdir.json');
const hostPath = (dataDir: string): string => join(dataDir, 'host.json');
const queuePath = (dataDir: string): string => join(dataDir, 'queue.json');
const configPath = (dataDir: string): string => join(dataDir, 'config.json');

/** The tool modules that the data folder's worker loads. */
export const recordedTools = (dataDir: string): string[] => readJson<string[]>(toolsPath(dataDir)) ?? [];

export const recordTools = (dataDir: string, files: readonly string[]): void =>
  writeJson(toolsPath(dataDir), files);

/** The configuration that the user named; null: the data folder's, if it exists. */
export const recordedConfig = (dataDir: string): string | null =>
  readJson<string>(configPath(dataDir)) ?? null;

/** The configuration that counts, if this one was asked for: null for the data folder's, undefined for the one as before. */
export const chosenConfig = (
  dataDir: string,
  config: string | null | undefined = recordedConfig(dataDir),
): string | null => config;

export const recordConfig = (dataDir: string, file: string | null): void => record(configPath(dataDir), file);

/** The folder that the user named for new shells; null: the default. */
export const recordedWorkdir = (dataDir: string): string | null =>
  readJson<string>(workdirPath(dataDir)) ?? null;

export const recordWorkdir = (dataDir: string, folder: string | null): void =>
  record(workdirPath(dataDir), folder);

/** The host that the user named, or `noHost` for agents only; undefined: none was named. */
export const recordedHost = (dataDir: string): string | undefined => readJson<string>(hostPath(dataDir));

export const recordHost = (dataDir: string, host: string): void => record(hostPath(dataDir), host);

/** The task queue that the user named for its agents; null: the default. */
export const recordedQueue = (dataDir: string): string | null => readJson<string>(queuePath(dataDir)) ?? null;

export const recordQueue = (dataDir: string, queue: string | null): void => record(queuePath(dataDir), queue);

function record(path: string, value: string | null): void {
  if (value === null) rmSync(path, { force: true });
  else writeJson(path, value);
}
