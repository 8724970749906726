// The input of a command, and the targets of redirections.
import type { Site } from '../check-run';
import { programName } from '../commands/command';
import { UNKNOWN } from '../text';
import type { SyntaxNode } from './tree';

export interface Input {
  text: string;
  /** Where the text is in the code, if it is there. */
  site: Site | null;
  /** Whether its input or output is a network connection. */
  isConnected: boolean;
}
export const NO_INPUT: Input = { text: UNKNOWN, site: null, isConnected: false };

/** Paths that bash treats as connections. */
export const NETWORK_DEVICE = /^\/dev\/(?:tcp|udp)\//;

const WORDS =
  /^(?:word|string|raw_string|ansi_c_string|translated_string|concatenation|number|simple_expansion|expansion|process_substitution|command_substitution)$/;

/** The words of a redirection, target first. */
export const targetsOf = ({ children }: SyntaxNode): SyntaxNode[] =>
  children.filter(({ type }) => WORDS.test(type));

/** The grammar treats them as more targets, but they are arguments of the command. */
export const argumentsBehind = (redirect: SyntaxNode, code: string): SyntaxNode[] =>
  targetsOf(redirect)
    .slice(1)
    // Not if it is the descriptor number of the next redirection.
    .filter(({ type, end }) => type !== 'number' || !/[<>]/.test(code.charAt(end)));

/** Whether input piped into a stage goes to another machine. */
export function isConnection(stage: SyntaxNode, code: string): boolean {
  const command = stage.type === 'redirected_statement' ? stage.children[0] : stage;
  const name = command?.children.find(({ type }) => type === 'command_name');
  return (
    name !== undefined &&
    /^(?:nc|ncat|netcat|socat|telnet)$/.test(programName(code.slice(name.start, name.end)))
  );
}
