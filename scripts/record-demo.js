// Makes docs/demo.svg: what `npm run demo` shows in a terminal, from a real run. Run after a change of the demo.
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { execFileSync } = require('node:child_process');
const { Terminal } = require('@xterm/headless');
const pty = require('node-pty');

const COLUMNS = 104;
const [CHAR_WIDTH, LINE_HEIGHT, PADDING] = [8.4, 19, 18];
const root = join(__dirname, '..');
const command = join(root, 'bin', 'holdfast.js');
/** By number of the terminal's colour; what is bold, dim or plain has none. */
const COLOURS = { 1: '#ff7b72', 2: '#7ee787', 3: '#e3b341', 6: '#76e3ea' };

/** Runs it in a terminal of its own; resolves with that when it has ended. */
function recorded(dataDir) {
  const terminal = new Terminal({ cols: COLUMNS, rows: 50, scrollback: 10_000, allowProposedApi: true });
  const { NO_COLOR: _none, ...rest } = process.env;
  const env = { ...rest, HOLDFAST_DATA: dataDir };
  const run = pty.spawn(process.execPath, [command, 'demo'], { cols: COLUMNS, rows: 50, env });
  run.onData((data) => terminal.write(data));
  return new Promise((resolve) =>
    run.onExit(() => terminal.write('', () => resolve(terminal.buffer.active))),
  );
}

/** A line as stretches of one style. */
function stretchesOf(line) {
  const stretches = [];
  for (let column = 0; column < COLUMNS; column++) {
    const cell = line.getCell(column);
    const style = cell.isDim()
      ? '#8b949e'
      : (COLOURS[cell.isFgPalette() ? cell.getFgColor() : -1] ?? '#e6edf3');
    const last = stretches.at(-1);
    const text = cell.getChars() || ' ';
    if (last?.style === style) last.text += text;
    else stretches.push({ style, text });
  }
  return stretches;
}

/** How the kill went, and the end: what lies between is left out. */
function shownLines(buffer) {
  const lines = Array.from({ length: buffer.length }, (_, n) => buffer.getLine(n));
  const texts = lines.map((line) => line.translateToString(true));
  const killed = texts.findIndex((text) => text.includes('SIGKILL'));
  const taken = texts.findIndex((text) => text.includes('NEW'));
  const begun = texts.findLast((text, n) => n < killed && /^ +step /.test(text));
  const end = texts.findIndex((text) => text.startsWith('Nothing was lost'));
  if (killed < 0 || taken < 0 || end < 0) throw new Error(`the demo went otherwise:\n${texts.join('\n')}`);
  const [ellipsis] = [[{ style: '#8b949e', text: '  …' }]];
  return [
    ...lines.slice(texts.lastIndexOf(begun, killed), taken + 5).map(stretchesOf),
    ellipsis,
    ...lines.slice(end, end + 5).map(stretchesOf),
  ];
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function svgOf(lines) {
  const width = Math.round(COLUMNS * CHAR_WIDTH + 2 * PADDING);
  const height = lines.length * LINE_HEIGHT + 2 * PADDING;
  const rows = lines.map((stretches, n) => {
    const spans = stretches
      .map(({ style, text }) => `<tspan fill="${style}">${escaped(text)}</tspan>`)
      .join('');
    return `<text x="${PADDING}" y="${PADDING + 14 + n * LINE_HEIGHT}" xml:space="preserve">${spans.trimEnd()}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    '<title>holdfast demo: the worker is killed while a script prints, and nothing is lost</title>',
    `<rect width="100%" height="100%" rx="8" fill="#0d1117"/>`,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">`,
    ...rows,
    '</g></svg>',
    '',
  ].join('\n');
}

async function main() {
  const dataDir = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  try {
    writeFileSync(join(root, 'docs', 'demo.svg'), svgOf(shownLines(await recorded(dataDir))));
  } finally {
    execFileSync(process.execPath, [command, 'down', '--sessions', '--data', dataDir], { stdio: 'ignore' });
    rmSync(dataDir, { recursive: true, force: true });
  }
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
