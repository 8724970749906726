// One xterm on the page. Its output is untrusted: titles and the clipboard are left alone, links lead to the web only
// and after a look at their target, and no program's question is answered from here, for that would be typing.
import { FitAddon } from '@xterm/addon-fit';
import { SearchAddon } from '@xterm/addon-search';
import { WebLinksAddon } from '@xterm/addon-web-links';
import { WebglAddon } from '@xterm/addon-webgl';
import { Terminal } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { useCellWidths } from '../../contracts/text/cell-widths';
import { withoutC1 } from '../../contracts/text/control-characters';
import { FollowedRow, fitWatched, inUsualLetters, usualLetters } from './fit-watched';
import { documentForTerminal } from './inert-document';

const WEB = /^https?:\/\//i;

interface Size {
  cols: number;
  rows: number;
}

export interface Screen {
  terminal: Terminal;
  /** Fits it into its place. */
  fit(): Size;
  /** The size that would fit its place. */
  ownSize(): Size;
  /** For a person who watches: all of it in its place where that can be read, otherwise its last line. */
  fitWatched(): void;
  /** Draws what was before. */
  begin(text: string): void;
  /** Draws what comes next, which may end within a character. */
  write(data: Uint8Array, drawn: () => void): void;
  find(text: string, isBack: boolean): boolean;
  dispose(): void;
}

export function openScreen(place: HTMLElement, onLink: (target: string) => void): Screen {
  const { document: ownDocument, during, release } = documentForTerminal();
  const follow = (_: MouseEvent, target: string): void => {
    if (WEB.test(target)) onLink(target);
  };
  const terminal = new Terminal({
    ...{ documentOverride: ownDocument, allowProposedApi: true, disableStdin: true },
    ...{ fontFamily: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace', fontSize: 13 },
    ...{ scrollback: 5_000, cursorBlink: false, theme: { background: '#14161a', foreground: '#d9dce1' } },
    linkHandler: { activate: follow },
  });
  let decoder = new TextDecoder();
  const fit = new FitAddon();
  const size = (): Size => ({ cols: terminal.cols, rows: terminal.rows });
  const search = new SearchAddon();
  const followed = new FollowedRow(terminal, place);
  useCellWidths(terminal);
  terminal.loadAddon(fit);
  terminal.loadAddon(search);
  terminal.loadAddon(new WebLinksAddon(follow));
  answerNothing(terminal);
  terminal.attachCustomKeyEventHandler((event) => !isCopy(event, terminal));
  during(() => terminal.open(place));
  useGraphics(terminal);
  return {
    terminal,
    fit: () => {
      usualLetters(terminal);
      fit.fit();
      return size();
    },
    ownSize: () => {
      const own = fit.proposeDimensions();
      // Where it is hidden, it has none.
      return own && own.cols > 0 && own.rows > 0 ? inUsualLetters(terminal, own) : size();
    },
    fitWatched: () => {
      fitWatched(terminal, fit.proposeDimensions());
      followed.follow();
    },
    begin: (text) => {
      decoder = new TextDecoder();
      terminal.write(withoutC1(text), () => followed.follow());
    },
    write: (data, drawn) =>
      terminal.write(withoutC1(decoder.decode(data, { stream: true })), () => {
        followed.follow();
        drawn();
      }),
    find: (text, isBack) => (isBack ? search.findPrevious(text) : search.findNext(text)),
    dispose: () => {
      followed.dispose();
      terminal.dispose();
      release();
    },
  };
}

/** What is selected is copied by the browser, not sent to the program; xterm does the rest at the event `copy`. */
const isCopy = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent, terminal: Terminal): boolean =>
  terminal.hasSelection() && (ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'c';

/** Without graphics, or when the browser takes them back, xterm draws with elements. */
function useGraphics(terminal: Terminal): void {
  try {
    const graphics = new WebglAddon();
    graphics.onContextLoss(() => graphics.dispose());
    terminal.loadAddon(graphics);
  } catch {
    // As it is.
  }
}

/**
 * Programs ask terminals what they are, where the cursor is, and which colours and modes they have. An answer is typed
 * into the program, and of a log that is replayed, into the next one.
 */
function answerNothing({ parser }: Terminal): void {
  const done = (): boolean => true;
  for (const prefix of ['', '?', '>', '=']) {
    const id = prefix === '' ? {} : { prefix };
    parser.registerCsiHandler({ ...id, final: 'c' }, done);
    parser.registerCsiHandler({ ...id, final: 'n' }, done);
    parser.registerCsiHandler({ ...id, intermediates: '$', final: 'p' }, done);
  }
  parser.registerCsiHandler({ prefix: '>', final: 'q' }, done);
  parser.registerCsiHandler({ final: 't' }, done);
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, done);
  // Titles, colours, the clipboard.
  for (const code of [0, 1, 2, 4, 10, 11, 12, 52]) parser.registerOscHandler(code, done);
}
