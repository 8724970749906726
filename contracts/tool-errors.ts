// The part of the error catalogue that tools and their callers see.
import { entry, type ErrorEntry } from './error-entry';

export const TOOL_ERRORS = {
  unknown_tool: entry(
    65,
    false,
    'none',
    (f) => `No tool has this name: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Call one of the allowed tools.',
  ),
  tool_invalid: entry(
    78,
    false,
    'none',
    (f) => `A tool is not one: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Mend the tool; `defineTool` of holdfast/tools has its types.',
  ),
  tool_name_taken: entry(
    78,
    false,
    'none',
    (f) =>
      `Two tools have names that a model cannot tell apart: got ${f.got} beside ${f.before}, allowed names that ` +
      'differ in more than case, "-" and "_".',
    () => 'Give one of them another name.',
  ),
  tools_not_loaded: entry(
    78,
    false,
    'none',
    (f) => `The tools of ${f.got} could not be loaded: ${f.reason}.`,
    () => 'Mend the module, or name others: `holdfast up --tools FILE`, `holdfast up --no-tools` for none.',
  ),
  tool_failed: entry(
    70,
    false,
    'possible',
    (f) => `The tool ${f.tool} failed, got ${f.attempts} attempts: ${f.reason}`,
    () => 'Look at the reason; another call or another tool may help.',
  ),
  mcp_tool_failed: entry(
    70,
    false,
    'possible',
    (f) => `The tool ${f.tool} of the MCP server ${f.server} failed: ${f.reason}`,
    () => 'Look at the reason, which is the server’s own; other arguments may help.',
  ),
  mcp_server_lost: entry(
    69,
    true,
    'possible',
    (f) => `The MCP server ${f.server} was lost in the middle of a call of ${f.tool}: ${f.reason}`,
    () =>
      'The call may have had its effect: look first, then call it again. The server is being connected anew.',
  ),
  mcp_server_down: entry(
    69,
    true,
    'none',
    (f) => `The MCP server ${f.server} is not connected, nothing was run: ${f.reason}`,
    () => 'Call it again later; `holdfast tools` shows which servers are down, and why.',
  ),
  tool_not_allowed: entry(
    77,
    false,
    'none',
    (f) => `The tool may not be called here: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Call one of the allowed tools; what an agent may call is said when it is started.',
  ),
  would_deadlock: entry(
    65,
    false,
    'none',
    (f) =>
      `The call would wait for ever: session ${f.session} runs the script that makes it (sessions that wait: ` +
      `${f.within}); nothing was done.`,
    () => 'Use another session number, or let the script do it itself.',
  ),
  call_depth: entry(
    65,
    false,
    'none',
    (f) => `Scripts call tools that run scripts too deep: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Do it in one of the scripts above.',
  ),
  budget_exceeded: entry(
    69,
    false,
    'none',
    (f) => `The budget of ${f.what} is spent: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Do more with one call, or start the agent with a larger limit.',
  ),
  values_full: entry(
    75,
    true,
    'none',
    (f) => `A large value cannot be kept: ${f.reason}; nothing was run.`,
    () =>
      'Call it again when calls that are open have ended, pass less at a time, or write it to a file and name that. ' +
      'The limits are in `[storage]` of that machine.',
  ),
  agents_depth: entry(
    69,
    false,
    'none',
    () =>
      'Sub-agents are nested as deep as they may be: got one more level, allowed none; nothing was started.',
    () => 'Do this task yourself.',
  ),
  agents_limit: entry(
    69,
    false,
    'none',
    (f) =>
      `There are as many sub-agents as there may be: got ${f.got}, allowed ${f.allowed}; nothing was started.`,
    () => 'Do this task yourself, or send a message to a sub-agent that runs; those that ended count, too.',
  ),
  dependency_failed: entry(
    65,
    false,
    'none',
    (f) => `The call was not run: it refers to the result of ${f.got}, ${f.reason}.`,
    (f) => `Mend ${f.got}, or call again with a value in place of the reference.`,
  ),
  script_ended: entry(
    65,
    false,
    'none',
    (f) => `The call belongs to no command of this session that may call: ${f.reason}.`,
    () => 'Run the script again: each command and each fresh shell gets a token of its own.',
  ),
  arm_refused: entry(
    69,
    false,
    'none',
    (f) => `Tools cannot be called through the terminal of session ${f.session}: ${f.reason}.`,
    (f) =>
      `Start what reaches the other machine (ssh -t, docker exec -it) in session ${f.session}, and arm it when a ` +
      'POSIX shell with python3 waits at its prompt there.',
  ),
  call_cancelled: entry(
    75,
    false,
    'possible',
    (f) => `The call of ${f.tool} was cancelled: ${f.reason}.`,
    () => 'Call it again where it is still wanted; look first whether it has had its effect.',
  ),
  result_too_large: entry(
    65,
    false,
    'happened',
    (f) => `The tool ${f.tool} ran, but its result is too large: got ${f.got} bytes, allowed ${f.allowed}.`,
    () =>
      'Ask for less at a time, or let the tool write to a file. Look first whether it must not be run again.',
  ),
  result_undelivered: entry(
    74,
    false,
    'happened',
    (f) => `The tool ${f.tool} ran, but its result could not be delivered: ${f.reason}.`,
    () => 'Look at what it has done before you call it again; ask for less at a time where that helps.',
  ),
  arguments_unreachable: entry(
    74,
    false,
    'none',
    (f) =>
      `The arguments of ${f.tool} could not be had: got ${f.got} bytes that lie at ${f.at}, ${f.reason}; nothing was run.`,
    () =>
      'See that the machine of the script is online, then call it again; or write them to a file and name that.',
  ),
  arguments_too_large: entry(
    65,
    false,
    'none',
    (f) => `The arguments of ${f.tool} are too large: got ${f.got} bytes, allowed ${f.allowed}.`,
    () => 'Write them to a file and name that.',
  ),
  file_failed: entry(
    74,
    false,
    'possible',
    (f) => `The file ${f.got} could not be ${f.action}: ${f.reason}.`,
    () => 'Look at its permissions and at the room on the disk, or use another path.',
  ),
  patch_failed: entry(
    65,
    false,
    'none',
    (f) => `The patch does not apply: ${f.reason}`,
    () => 'Read the file as it is now and send a corrected patch; nothing was changed.',
  ),
  address_refused: entry(
    77,
    false,
    'none',
    (f) => `The address may not be fetched: got ${f.got}, which is ${f.reason}; allowed public addresses.`,
    () => 'Fetch another address; which private ones are open is said where Holdfast is set up.',
  ),
  fetch_failed: entry(
    69,
    true,
    'possible',
    (f) => `${f.got} could not be fetched: ${f.reason}.`,
    () => 'Look at the address; where the other side was away for a moment, fetch it again.',
  ),
} satisfies Record<string, ErrorEntry>;
