// How the scripts of a command call tools: where the stubs are, and which token to show.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quote } from '../../../contracts/text/shell-word';
import { INSIDE } from '../../sandbox/bubblewrap';
import { ToolSocket, toolSocketIn } from '../../sandbox/tool-socket';

/** How the scripts of one command call tools. */
export interface CommandTools {
  /** Folder of the stubs. */
  folder: string;
  socketPath: string;
  /** For this command only. */
  token: string;
}

/** Shows the shell of one epoch where scripts find their tools. */
export class OfferedTools {
  private place = '';
  private socket: ToolSocket | null = null;

  constructor(
    private readonly directory: string,
    private readonly isSandboxed: boolean,
  ) {}

  /** Returns what the driver gets. The location is written only when it has changed. */
  offer(tools: CommandTools | null): string {
    if (!tools) return '- -';
    const place = `${tools.folder}\n${tools.socketPath}`;
    if (place === this.place) return `${tools.token} known`;
    const socketPath = this.reachable(tools.socketPath);
    writeFileSync(join(this.directory, 'tools'), toolsScript({ ...tools, socketPath }), { mode: 0o600 });
    this.place = place;
    return `${tools.token} new`;
  }

  close(): void {
    this.socket?.close();
  }

  /** A path to the holder's socket that the shell can reach: a sandboxed shell sees only its own folder of our data. */
  private reachable(socketPath: string): string {
    if (!this.isSandboxed) return socketPath;
    this.socket ??= new ToolSocket(this.directory, socketPath);
    return toolSocketIn(INSIDE);
  }
}

/**
 * Sourced once in a shell, and again when the location changes: before each command the driver (driver.bash) then does
 * the rest, because sourcing costs more. The token comes with the command.
 */
function toolsScript({ folder, socketPath }: CommandTools): string {
  const [python, node, bin] = ['python', 'node', 'bin'].map((name) => quote(`${folder}/${name}`));
  return [
    `builtin export HOLDFAST_TOOL_SOCKET=${quote(socketPath)} HOLDFAST_TOOLS=${quote(folder)}`,
    `__hf_python=${python} __hf_node=${node} __hf_bin=${bin}`,
    '',
  ].join('\n');
}
