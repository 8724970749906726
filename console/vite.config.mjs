// Builds the page into dist/console. Assets carry their hash, and nothing is inlined: the policy allows no inline code.
import { defineConfig } from 'vite';

/**
 * Without WebGL xterm 6.0 gives cells their true colours, and selected ones theirs, by the attribute `style`, which the
 * page's policy forbids. Through the object model the same is allowed.
 */
const ADD_STYLE = /_addStyle\((\w+),(\w+)\)\{\1\.setAttribute\("style",`[^`]*`\)\}/;
const xtermWithoutStyleAttributes = {
  name: 'xterm-without-style-attributes',
  transform(code, id) {
    if (!/@xterm\/xterm\/lib\//.test(id)) return null;
    if (!ADD_STYLE.test(code)) throw new Error('xterm sets its styles in another way now: look at ADD_STYLE');
    return { code: code.replace(ADD_STYLE, '_addStyle($1,$2){$1.style.cssText+=$2}'), map: null };
  },
};

export default defineConfig({
  root: import.meta.dirname,
  base: '/',
  logLevel: 'warn',
  plugins: [xtermWithoutStyleAttributes],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
});
