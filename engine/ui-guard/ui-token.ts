// The web UI's token: one per data folder, kept across restarts, so that bookmarks and cookies stay valid.
import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { HoldfastError, reasonOf } from '../../contracts/errors/holdfast-error';
import { createOnce } from '../../system/json-file';
import { readPrivateFile } from '../../system/private-file';

const TOKEN_BYTES = 24;
/** The file holds a header, in the form for `curl -H @FILE`. */
const LINE = /^Authorization: Bearer ([\w-]{16,})\s*$/;

/**
 * Reads the token; creates it on first use. Throws `engine_failed` if others can read the file, or it holds no token.
 */
export function uiToken(file: string): string {
  let line: string;
  try {
    // Left by a disk that was full.
    if (statSync(file, { throwIfNoEntry: false })?.size === 0) rmSync(file);
    createOnce(file, `Authorization: Bearer ${randomBytes(TOKEN_BYTES).toString('base64url')}\n`);
    line = readPrivateFile(file);
  } catch (err) {
    throw unusable(reasonOf(err), file);
  }
  const [, token] = LINE.exec(line) ?? [];
  if (!token) throw unusable(`${file} holds no token; remove it to get a new one`, file);
  return token;
}

const unusable = (reason: string, log: string): HoldfastError =>
  new HoldfastError('engine_failed', { reason: `the token of the web UI: ${reason}`, log });
