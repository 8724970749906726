// Every command of the command line, a line each: where it stands in the help, how it is used, what it is for, and its
// file, which is loaded only when it is given: a Temporal client alone takes a fifth of a second.
import type { Define } from './define-command';

export interface CommandEntry {
  group: string;
  /** Its name and its arguments. */
  usage: string;
  about: string;
  load: () => Promise<{ define: Define }>;
}

type Row = [usage: string, about: string, load: CommandEntry['load']];

const grouped = (group: string, ...rows: Row[]): CommandEntry[] =>
  rows.map(([usage, about, load]) => ({ group, usage, about, load }));

// prettier-ignore
export const COMMANDS: readonly CommandEntry[] = [
  ...grouped('Agents:',
    ['run <task>', 'give an agent a task and watch it', () => import('./commands/run')],
    ['chat', 'talk to an agent: see its steps as they happen, its answers as they are written', () => import('./commands/chat')],
    ['send <agent> <message>', 'send a message to an agent and print the answer (- reads stdin)', () => import('./commands/send')],
    ['stop <agent>', 'end an agent, its turn and its sessions', () => import('./commands/stop')],
    ['recover <agent>', 'end the turn and everything running in the sessions; the conversation continues', () => import('./commands/recover')],
    ['fork <agent> <new-id> [message]', 'start another conversation with the beginning of this one', () => import('./commands/fork')],
    ['log <agent>', 'the steps of an agent, and what each did to files', () => import('./commands/log')],
    ['diff <agent>', 'what an agent changed in its files (default: all of it)', () => import('./commands/diff')],
    ['rewind <agent>', 'bring back files, conversation or both as they were after a step', () => import('./commands/rewind')],
    ['cp <from> <to>', 'copy files and folders to an agent’s host, or back: PATH AGENT:PATH', () => import('./commands/cp')],
  ),
  ...grouped('Sessions:',
    ['exec <code>', 'run code ("-": stdin) in a session; its exit code is passed on', () => import('./commands/exec')],
    ['output', 'show the output of a session', () => import('./commands/output')],
    ['input [text]', 'type text and Enter into the running process; "" is Enter alone', () => import('./commands/input')],
    ['attach', 'the terminal of a session in your own; ctrl-] leaves', () => import('./commands/attach')],
    ['wait <sessions...>', 'wait for sessions; exits with 75 on timeout', () => import('./commands/wait')],
    ['reset', 'end everything that runs in a session', () => import('./commands/reset')],
    ['close', 'end a session and everything in it', () => import('./commands/close')],
    ['arm', 'let scripts call tools in places that only the terminal reaches (ssh): prints a line to paste there', () => import('./commands/arm')],
  ),
  ...grouped('What waits for people, and what runs:',
    ['ps', 'agents, turns and sessions: what each is doing, what it waits for, who ended what', () => import('./commands/ps')],
    ['tree [agent]', 'like ps, but each agent with its turns, sessions, sub-agents and their tokens', () => import('./commands/tree')],
    ['approve [id]', 'approve a pending command or call; the id may be omitted if only one is pending', () => import('./commands/approve')],
    ['deny [id]', 'deny a pending command or call; the id may be omitted if only one is pending', () => import('./commands/deny')],
    ['ui', 'a link that opens the page of the running `holdfast up` or `holdfast serve`', () => import('./commands/ui')],
  ),
  ...grouped('Tools and checks:',
    ['tools', 'the tools of models and scripts, and why any are missing', () => import('./commands/tools')],
    ['check <file>', 'check code for placeholders, destructive commands and the like; runs nothing (- reads stdin)', () => import('./commands/check')],
    ['mcp', 'an MCP server over stdio: sessions and agents for any MCP client', () => import('./commands/mcp')],
    ['demo', 'watch an agent work while its worker is killed and nothing is lost', () => import('./commands/demo')],
    ['completion <shell>', 'the script that completes commands and options: bash, zsh or fish', () => import('./commands/completion')],
  ),
  ...grouped('Operating:',
    ['up', 'start the Temporal server, the worker and the page; with --address no server', () => import('./commands/up')],
    ['down', 'stop what `holdfast up` has started', () => import('./commands/down')],
    ['worker', 'serve agents in the foreground, for systemd and containers; logs to stderr', () => import('./commands/worker')],
    ['serve', 'an HTTP API and a page to watch and steer agents; Ctrl-C ends it', () => import('./commands/serve')],
    ['token', 'tokens for the HTTP API', () => import('./commands/token')],
    ['host', 'machines whose shells agents use: serve this one, list all', () => import('./commands/host')],
    ['logs [agent]', 'what the worker and the gateway on this machine have logged', () => import('./commands/logs')],
    ['gc', 'remove closed sessions that are kept for long enough; the worker does it, too', () => import('./commands/gc')],
    ['codec', 'let Temporal’s web UI and command line read encrypted payloads; Ctrl-C ends it', () => import('./commands/codec')],
    ['doctor', 'check each part and say what is missing', () => import('./commands/doctor')],
  ),
];

export const nameOf = ({ usage }: CommandEntry): string => usage.split(' ')[0] ?? usage;
