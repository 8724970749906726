// What bash sources before a command whose scripts may call tools: where the stubs are, and what to show to be let in.
import { quote } from './command-script';

/** How the scripts of one command call tools. */
export interface CommandTools {
  /** Folder of the stubs. */
  folder: string;
  socketPath: string;
  /** This command's own. */
  token: string;
}

/**
 * The same for every command of a shell; the token comes with the command, in `__hf_tools`. The stubs stand before
 * what the user has set, never in its place; the command `tool` stands behind the user's own programs. Where they
 * stand already nothing is changed.
 */
export function toolsScript({ folder, socketPath }: CommandTools): string {
  const [socket, home] = [quote(socketPath), quote(folder)];
  const [python, node, bin] = ['python', 'node', 'bin'].map((name) => quote(`${folder}/${name}`));
  return [
    `builtin export HOLDFAST_TOOL_TOKEN="$__hf_tools" HOLDFAST_TOOL_SOCKET=${socket} HOLDFAST_TOOLS=${home}`,
    `[[ ":\${PYTHONPATH-}:" == *:${python}:* ]] || builtin export PYTHONPATH=${python}"\${PYTHONPATH:+:$PYTHONPATH}"`,
    `[[ ":\${NODE_PATH-}:" == *:${node}:* ]] || builtin export NODE_PATH=${node}"\${NODE_PATH:+:$NODE_PATH}"`,
    `[[ ":\${PATH-}:" == *:${bin}:* ]] || builtin export PATH="\${PATH-}":${bin}`,
    '',
  ].join('\n');
}
