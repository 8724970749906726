// What a data folder's worker was told to load, kept there, so that one that is started again loads it again.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { readJson, writeJson } from '../exec/json-file';

const toolsPath = (dataDir: string): string => join(dataDir, 'tools.json');
const configPath = (dataDir: string): string => join(dataDir, 'config.json');

/** The modules that the data folder's worker loads. */
export const recordedTools = (dataDir: string): string[] => readJson<string[]>(toolsPath(dataDir)) ?? [];

export const recordTools = (dataDir: string, files: readonly string[]): void =>
  writeJson(toolsPath(dataDir), files);

/** The configuration that somebody named for it; null: that of the data folder, where there is one. */
export const recordedConfig = (dataDir: string): string | null =>
  readJson<string>(configPath(dataDir)) ?? null;

export function recordConfig(dataDir: string, file: string | null): void {
  if (file === null) rmSync(configPath(dataDir), { force: true });
  else writeJson(configPath(dataDir), file);
}
