// Paths inside a workspace. Linux names files with bytes, so inside they are strings of one character a byte (latin1),
// relative to the workspace, with slashes between their parts; '' is the workspace itself. Pure.

/** A path relative to a workspace, one character a byte. */
export type BytePath = string;

export const toBytes = (path: BytePath): Buffer => Buffer.from(path, 'latin1');
export const fromBytes = (bytes: Uint8Array): BytePath => Buffer.from(bytes).toString('latin1');

/** The bytes of an ordinary string, such as the path of a workspace. */
export const bytePath = (text: string): BytePath => fromBytes(Buffer.from(text, 'utf8'));

/** For people: what is not UTF-8 becomes U+FFFD. */
export const shownPath = (path: BytePath): string => toBytes(path).toString('utf8');

/** '' for a path in the workspace's own folder. */
export const folderOf = (path: BytePath): BytePath => path.slice(0, Math.max(0, path.lastIndexOf('/')));
export const nameOf = (path: BytePath): BytePath => path.slice(path.lastIndexOf('/') + 1);
export const joined = (folder: BytePath, name: BytePath): BytePath =>
  folder === '' ? name : `${folder}/${name}`;

/** The folders on the way to a path, outermost first, without '' and without itself. */
export function foldersOn(path: BytePath): BytePath[] {
  const folders: BytePath[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) folders.push(path.slice(0, at));
  return folders;
}

/** As git and the kernel compare: by bytes. */
export const byBytes = (a: BytePath, b: BytePath): number => (a < b ? -1 : a > b ? 1 : 0);

/** Whether git can keep a file of this path: no part may be `.git`, in any case. */
export const isKeepable = (path: BytePath): boolean => !/(^|\/)\.git(\/|$)/i.test(path);
