// The line that a person pastes, or the holder types, into a shell that only the terminal reaches, and the script that
// the holder then types to let it call tools.
import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import { shellAsset } from '../../../system/package-root';
import { CALL_MARK } from './in-band-filter';

/** A terminal accepts 4,095 bytes per line. */
const LINE_BYTES = 1_000;

/**
 * Returns the line: it turns echo off, shows its ticket in a frame and evaluates the lines that it then receives, or
 * none if they do not arrive within ten seconds. Built with printf, so that its own echo is not a frame. For sh, bash,
 * dash and zsh; the leading space keeps it out of histories.
 */
export function bootstrapLine(ticket: string): string {
  const frame = `${CALL_MARK}{"nonce":"%s"}<<END_TOOL_CALL>>`.replaceAll('CALL', '%s');
  return (
    ` eval "$(s=$(stty -g);trap "stty $s;exit 1" INT;stty -echo -icanon min 0 time 100;` +
    `printf '${frame}' CALL ${ticket} CALL>/dev/tty;` +
    `while IFS= read -r l&&[ "$l" ];do printf '%s\\n' "$l";done;stty $s)"`
  );
}

/**
 * Returns what to type for it: lines short enough for a terminal, and an empty one. `ticket` is exchanged for the
 * nonce, once.
 */
export function bootstrapScript(ticket: string): string {
  const module = deflateSync(readFileSync(shellAsset('in-band.py')), { level: 9 }).toString('base64');
  const lines = module.match(new RegExp(`.{1,${LINE_BYTES}}`, 'g')) ?? [];
  const script = readFileSync(shellAsset('in-band.sh'), 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace('@MODULE@', lines.join('\n'))
    .replace('@TICKET@', ticket);
  return `${script.trimEnd()}\n\n`;
}
