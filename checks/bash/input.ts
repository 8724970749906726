// What a command reads, and what redirections name.
import type { Site } from '../check';
import { programName } from '../commands/command';
import { UNKNOWN } from '../text';
import type { SyntaxNode } from './tree';

export interface Input {
  text: string;
  /** Where the text stands in the code, if it does. */
  site: Site | null;
  /** Whether a connection is behind it, or behind the output. */
  isConnected: boolean;
}
export const NO_INPUT: Input = { text: UNKNOWN, site: null, isConnected: false };

/** What bash takes for a connection. */
export const NETWORK_DEVICE = /^\/dev\/(?:tcp|udp)\//;

const WORDS =
  /^(?:word|string|raw_string|ansi_c_string|translated_string|concatenation|number|simple_expansion|expansion|process_substitution|command_substitution)$/;

/** The words of a redirection: its target first. */
export const targetsOf = ({ children }: SyntaxNode): SyntaxNode[] =>
  children.filter(({ type }) => WORDS.test(type));

/** What the grammar takes for more targets: arguments of the command. */
export const argumentsBehind = (redirect: SyntaxNode, code: string): SyntaxNode[] =>
  targetsOf(redirect)
    .slice(1)
    // The number of the next redirection's descriptor is none.
    .filter(({ type, end }) => type !== 'number' || !/[<>]/.test(code.charAt(end)));

/** Whether what is piped into a stage goes to another machine. */
export function isConnection(stage: SyntaxNode, code: string): boolean {
  const command = stage.type === 'redirected_statement' ? stage.children[0] : stage;
  const name = command?.children.find(({ type }) => type === 'command_name');
  return (
    name !== undefined &&
    /^(?:nc|ncat|netcat|socat|telnet)$/.test(programName(code.slice(name.start, name.end)))
  );
}
