// Names that the other side sends, and how paths are shown to people.
import { isAbsolute } from 'node:path';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { inertLine } from '../../contracts/text/inert';
import type { Name } from './transfer-messages';
import { bytesOf, nameOf } from './open-folder';
import { shortened } from '../../contracts/text/well-formed';

const MAX_NAME_BYTES = 255;
const MAX_SHOWN = 400;

/** Text as bytes: what a command line or a request names. */
export const pathOf = (text: string): Name => nameOf(Buffer.from(text, 'utf8'));

/** A path of this machine, from a working folder; unlike `resolve`, keeps a final `/` or `/.`, which mean something. */
export const localPath = (text: string, cwd: string): Name =>
  pathOf(text.startsWith('/') ? text : `${cwd}/${text}`);

/** As UTF-8 where it is, inert in a terminal. */
export const shown = (path: Name): string => {
  const text = inertLine(bytesOf(path).toString('utf8'));
  return shortened(text, MAX_SHOWN);
};

/** One byte a character, none of them NUL. */
// eslint-disable-next-line no-control-regex -- that is the point
export const isBytes = (text: string): boolean => /^[\x01-\xff]*$/.test(text);

/** One component. Throws `invalid_input` for a name that could lead elsewhere. */
export function checkedName(name: unknown): Name {
  const isName =
    typeof name === 'string' &&
    name.length > 0 &&
    name.length <= MAX_NAME_BYTES &&
    name !== '.' &&
    name !== '..' &&
    isBytes(name) &&
    !name.includes('/');
  if (isName) return name;
  throw new HoldfastError('invalid_input', {
    what: 'A name that the sender gave',
    got: typeof name === 'string' ? shown(name) : String(name),
    allowed: 'one name in its folder',
  });
}

/** Absolute. Throws `invalid_input` for a path that the file system does not take. */
export function resolved(cwd: Name, { base, path }: { base: Name | null; path: Name }): Name {
  for (const one of [base ?? '', path])
    if (typeof one !== 'string' || !isBytes(one))
      throw new HoldfastError('invalid_input', {
        what: 'The path',
        got: shown(String(one)),
        allowed: 'a path without NUL',
      });
  const from = base === null ? cwd : joined(cwd, base);
  return joined(from, path);
}

/** Keeps `..` and a final slash: only the kernel knows where links lead. */
const joined = (folder: Name, path: Name): Name =>
  isAbsolute(path) ? path : path === '' ? folder : `${folder}/${path}`;

/** The folder and the name of the last component; the name is '.' for a path that means a folder's content. */
export function split(path: Name): { folder: Name; name: Name } {
  const plain = path.replace(/\/+$/, '');
  const at = plain.lastIndexOf('/');
  const name = plain.slice(at + 1);
  if (plain === '' || name === '.' || name === '..') return { folder: path, name: '.' };
  return { folder: at < 0 ? '.' : plain.slice(0, at + 1), name };
}
