// Lines typed in chats of a data folder, for the arrow keys.
import { join } from 'node:path';
import { readJson, writeJson } from '../../system/json-file';

const KEPT = 500;

/** The latest first, as Node's line editor has it. */
export function readHistory(dataDir: string): string[] {
  const lines = readJson<unknown>(fileOf(dataDir));
  return Array.isArray(lines) ? lines.filter((line) => typeof line === 'string') : [];
}

/** Adds to what other chats have written meanwhile; a full disk costs only the arrow keys. */
export function addToHistory(dataDir: string, line: string): void {
  const before = readHistory(dataDir).filter((one) => one !== line);
  try {
    writeJson(fileOf(dataDir), [line, ...before].slice(0, KEPT));
  } catch {
    // Only a convenience.
  }
}

const fileOf = (dataDir: string): string => join(dataDir, 'chat-history.json');
