// `holdfast input`: types into the program that runs in a session.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import type { InputRequest } from '../../contracts/schemas/session';
import { KEYS, type Key } from '../../contracts/sessions/session';
import { inertLine } from '../../contracts/text/inert';
import { collect, wholeNumber } from '../arguments';
import type { SessionOptions } from '../global-options';
import { action, examples, ofSession, type Define } from '../define-command';
import { withSession } from '../with-session';

interface InputOptions extends SessionOptions {
  key?: string[];
  /** False for `--no-enter`. */
  enter?: boolean;
  yieldMs?: number;
  id?: string;
}

export const define: Define = (command) =>
  ofSession(command)
    .option('--key <name>', 'press a key, for example ctrl-c, f5 or y; may be repeated', collect)
    .option('--no-enter', 'type the text without Enter')
    .option('--yield-ms <ms>', 'how long to wait for the reaction', wholeNumber)
    .option('--id <id>', 'repeating an id types nothing; other text is refused')
    .addHelpText(
      'after',
      examples(
        'holdfast input y                          y and Enter',
        "holdfast input ''                         Enter alone",
        'holdfast input --session 1 --key ctrl-c',
      ),
    )
    .action(action(input));

function input(text: string | undefined, options: InputOptions): Promise<number> {
  const typed = typedBy(text, options);
  return withSession(options, (session) => {
    const ms = options.yieldMs ?? 1_000;
    const yielding = { firstOutputMs: ms, betweenOutputMs: ms, maxMs: ms };
    return session.input({ ...typed, yield: yielding }, options.id);
  });
}

/** Single characters are text: those before the first named key are typed without Enter. Throws `invalid_input`. */
function typedBy(text: string | undefined, { key = [], enter = true }: InputOptions): InputRequest {
  const keys = key.map((name) => (name.length > 1 ? name.toLowerCase() : name));
  const named = keys.findIndex((key) => Object.hasOwn(KEYS, key));
  const characters = keys.slice(0, named < 0 ? keys.length : named);
  const rest = keys.slice(characters.length);
  const wrong = characters.find((key) => !isCharacter(key)) ?? rest.find((key) => !Object.hasOwn(KEYS, key));
  if (wrong !== undefined) {
    const allowed = `${Object.keys(KEYS).join(', ')}, and before them single characters such as y`;
    throw new HoldfastError('invalid_input', { what: '--key', got: wrong, allowed });
  }
  if (text !== undefined && characters.length > 0)
    throw new HoldfastError('invalid_input', {
      what: '--key',
      got: `${characters.join(' ')} beside a text`,
      allowed: 'either of them',
    });
  if (text === undefined && keys.length === 0)
    throw new HoldfastError('invalid_input', {
      what: 'The input',
      got: 'neither a text nor --key',
      allowed: "a text ('' is Enter alone) or --key NAME",
    });
  const pressed = rest.length > 0 && { keys: rest as Key[] };
  if (text !== undefined) return { keyboard: text, ...(!enter && { enter }), ...pressed };
  return { ...(characters.length > 0 && { keyboard: characters.join(''), enter: false }), ...pressed };
}

const isCharacter = (key: string): boolean => [...key].length === 1 && inertLine(key) === key;
