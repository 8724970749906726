// Commands that change the shell itself: its folder, its aliases, its variables.
import type { Word } from '../commands/command';
import { resolvePath } from '../paths';
import { HOME, UNKNOWN, unquoted } from '../text';
import type { Scope } from './scope';

/** False if the command is none of these. */
export function runBuiltin(scope: Scope, name: string, words: Word[]): boolean {
  const args = words.slice(1).filter(({ text }) => !/^-[LPe@]+$/.test(text) && text !== '--');
  switch (name) {
    case 'cd':
    case 'pushd': {
      const path = resolvePath(args[0]?.text ?? HOME, scope.cwd);
      scope.cwd = /^[/~]/.test(path) ? path.replace(/^~/, HOME) : null;
      return true;
    }
    case 'alias':
      for (const { text } of args) {
        const [left = '', ...right] = unquoted(text).split('=');
        if (right.length > 0) scope.aliases.set(left, right.join('='));
      }
      return true;
    case 'read':
    case 'mapfile':
    case 'readarray':
      for (const { text } of args) if (/^[A-Za-z_]\w*$/.test(text)) scope.set(text, [UNKNOWN]);
      return true;
    case 'set':
      if (words[1]?.text === '--') scope.parameters = args.map(({ text }) => text);
      return args.length > 0;
    default:
      return false;
  }
}
