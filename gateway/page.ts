// Serves the page's files: built with the package, from memory. Whoever opens it sees nothing without a log-in.
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

export function servePage(app: App): void {
  const folder = join(packageRoot(), 'dist', 'console');
  const files = new Map(filesOf(folder).map((name) => [`/${name}`, name]));
  app.get('*', async (c, next) => {
    // The page routes by the fragment, so every page is the first one.
    const name = files.get(c.req.path === '/' ? '/index.html' : c.req.path);
    if (name === undefined) return next();
    const body = readFileSync(join(folder, name));
    return c.body(new Uint8Array(body), 200, {
      'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
      'Cache-Control': name.startsWith('assets/') ? FOREVER : 'no-cache',
    });
  });
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
