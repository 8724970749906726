// Serves the page's files, which are built and compressed with the package. Without a log-in it shows nothing.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { packageRoot } from '../system/package-root';
import type { App } from './http/serve-routes';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.wasm': 'application/wasm',
};
/** Names of assets contain their hash. */
const FOREVER = 'public, max-age=31536000, immutable';
/** Best first; the file's name ends with the second. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

export function servePage(app: App): void {
  const folder = join(packageRoot(), 'dist', 'console');
  const files = new Set(filesOf(folder));
  app.get('*', async (c, next) => {
    // The page routes by the fragment, so every page is the first one.
    const name = c.req.path === '/' ? 'index.html' : c.req.path.slice(1);
    const type = TYPES[extname(name)];
    if (type === undefined || !files.has(name)) return next();
    const accepted = acceptedOf(c.req.header('Accept-Encoding'));
    const form = ENCODINGS.find(([encoding, end]) => accepted.has(encoding) && files.has(name + end));
    const body = readFileSync(join(folder, form ? name + form[1] : name));
    const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const headers = {
      'Cache-Control': name.startsWith('assets/') ? FOREVER : 'no-cache',
      // A cache in between must keep one for each.
      Vary: 'Accept-Encoding',
      ETag: tag,
    };
    if (c.req.header('If-None-Match') === tag) return c.body(null, 304, headers);
    return c.body(new Uint8Array(body), 200, {
      ...headers,
      'Content-Type': type,
      ...(form && { 'Content-Encoding': form[0] }),
    });
  });
}

/** The encodings that a client takes (RFC 9110, 12.5.3); one with the weight 0 is refused. */
function acceptedOf(header = ''): Set<string> {
  const given = header.split(',').map((part) =>
    part
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  return new Set(given.flatMap(([name = '', q]) => (/^q=0(\.0*)?$/.test(q ?? '') ? [] : [name])));
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  } catch {
    // A checkout whose page is not built: the API works without it.
    return [];
  }
}
