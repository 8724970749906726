// The part of the error catalogue that tools and their callers see.
import { entry, type ErrorEntry, type With } from './error-entry';

export const TOOL_ERRORS = {
  unknown_tool: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `No tool has this name: got ${f.got}${f.guess ? ` (did you mean ${f.guess}?)` : ''}, allowed ${f.allowed}.`,
    () => 'Call one of the allowed tools.',
  ),
  tool_invalid: entry(
    78,
    false,
    'none',
    (f: With<'allowed' | 'got'>) => `Invalid tool definition: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Fix the tool; `defineTool` in holdfast/tools has the types.',
  ),
  tool_name_taken: entry(
    78,
    false,
    'none',
    (f: With<'before' | 'got'>) =>
      `Two tools have names that a model cannot tell apart: got ${f.got} beside ${f.before}, allowed names that ` +
      'differ in more than case, "-" and "_".',
    () => 'Give one of them another name.',
  ),
  tools_not_loaded: entry(
    78,
    false,
    'none',
    (f: With<'got' | 'reason'>) => `The tools of ${f.got} could not be loaded: ${f.reason}.`,
    () => 'Fix the module, or name others: `holdfast up --tools FILE`, or `holdfast up --no-tools` for none.',
  ),
  tool_failed: entry(
    70,
    false,
    'possible',
    (f: With<'attempts' | 'reason' | 'tool'>) =>
      `The tool ${f.tool} failed (attempts: ${f.attempts}): ${f.reason}`,
    () => 'Look at the reason; another call or another tool may help.',
  ),
  mcp_tool_failed: entry(
    70,
    false,
    'possible',
    (f: With<'reason' | 'server' | 'tool'>) =>
      `The tool ${f.tool} of the MCP server ${f.server} failed: ${f.reason}`,
    () => 'Look at the reason, which is the server’s own; other arguments may help.',
  ),
  mcp_result_invalid: entry(
    70,
    false,
    'happened',
    (f: With<'server' | 'text' | 'tool'>) =>
      `The tool ${f.tool} of the MCP server ${f.server} has run, but gave no object, although it declares the shape of ` +
      `one. It said: ${f.text}`,
    () => 'Go on with what it said: a second call would do the same again.',
  ),
  mcp_server_lost: entry(
    69,
    true,
    'possible',
    (f: With<'reason' | 'server' | 'tool'>) =>
      `The MCP server ${f.server} was lost during a call to ${f.tool}: ${f.reason}`,
    () => 'The call may have taken effect: check first, then call it again. The server is being reconnected.',
  ),
  mcp_server_down: entry(
    69,
    true,
    'none',
    (f: With<'reason' | 'server'>) =>
      `The MCP server ${f.server} is not connected; nothing was run: ${f.reason}`,
    () => 'Call it again later; `holdfast tools` shows which servers are down, and why.',
  ),
  tool_not_allowed: entry(
    77,
    false,
    'none',
    (f: With<'allowed' | 'got'>) => `The tool may not be called here: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Call one of the allowed tools; an agent’s tools are chosen when it is started.',
  ),
  would_deadlock: entry(
    65,
    false,
    'none',
    (f: With<'session' | 'within'>) =>
      `The call would wait forever: session ${f.session} is running the script that makes it (waiting sessions: ` +
      `${f.within}); nothing was done.`,
    () => 'Use another session number, or have the script do it itself.',
  ),
  call_depth: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `Scripts that call tools that run scripts are nested too deep: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Do it in one of the outer scripts.',
  ),
  budget_exceeded: entry(
    69,
    false,
    'none',
    (f: With<'allowed' | 'got' | 'what'>) =>
      `The budget of ${f.what} is spent: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Do more in each call, or start the agent with a larger limit.',
  ),
  image_refused: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `The image cannot be shown to a model: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'Convert it or make it smaller first, for example with ImageMagick or Pillow. Read what is text, such as SVG, ' +
      'as a text.',
  ),
  values_full: entry(
    75,
    true,
    'none',
    (f: With<'reason'>) => `A large value cannot be stored: ${f.reason}; nothing was run.`,
    () =>
      'Call it again when open calls have ended, pass less at a time, or write the value to a file and pass its path. ' +
      'The limits are in `[storage]` on that machine.',
  ),
  agents_depth: entry(
    69,
    false,
    'none',
    () =>
      'Sub-agents are already nested as deep as allowed: got one more level, allowed none; nothing was started.',
    () => 'Do this task yourself.',
  ),
  agents_limit: entry(
    69,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `The limit on sub-agents is reached: got ${f.got}, allowed ${f.allowed}; nothing was started.`,
    () =>
      'Do this task yourself, or send a message to a running sub-agent; those that have ended count, too.',
  ),
  dependency_failed: entry(
    65,
    false,
    'none',
    (f: With<'got' | 'reason'>) => `The call was not run: it refers to the result of ${f.got}, ${f.reason}.`,
    (f) => `Fix ${f.got}, or call again with a value in place of the reference.`,
  ),
  script_ended: entry(
    65,
    false,
    'none',
    (f: With<'reason'>) =>
      `The call does not belong to a command of this session that may call tools: ${f.reason}.`,
    () => 'Run the script again: each command and each fresh shell gets its own token.',
  ),
  arm_refused: entry(
    69,
    false,
    'none',
    (f: With<'reason' | 'session'>) =>
      `Tools cannot be called through the terminal of session ${f.session}: ${f.reason}.`,
    (f) =>
      `Connect to the other machine (ssh -t, docker exec -it) in session ${f.session}, and arm it when a ` +
      'POSIX shell with python3 is at its prompt there.',
  ),
  call_cancelled: entry(
    75,
    false,
    'possible',
    (f: With<'reason' | 'tool'>) => `The call to ${f.tool} was cancelled: ${f.reason}.`,
    () => 'Call it again if it is still needed; check first whether it took effect.',
  ),
  result_too_large: entry(
    65,
    false,
    'happened',
    (f: With<'allowed' | 'got' | 'tool'>) =>
      `The tool ${f.tool} ran, but its result is too large: got ${f.got} bytes, allowed ${f.allowed}.`,
    () =>
      'Ask for less at a time, or have the tool write to a file. Check first that it is safe to run again.',
  ),
  result_undelivered: entry(
    74,
    false,
    'happened',
    (f: With<'reason' | 'tool'>) =>
      `The tool ${f.tool} ran, but its result could not be delivered: ${f.reason}.`,
    () => 'Check what it did before you call it again; ask for less at a time if that helps.',
  ),
  arguments_unreachable: entry(
    74,
    false,
    'none',
    (f: With<'at' | 'got' | 'reason' | 'tool'>) =>
      `The arguments of ${f.tool} could not be fetched: got ${f.got} bytes stored at ${f.at}, ${f.reason}; nothing was run.`,
    () =>
      'Make sure that the script’s machine is online, then call it again; or write them to a file and pass its path.',
  ),
  arguments_too_large: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got' | 'tool'>) =>
      `The arguments of ${f.tool} are too large: got ${f.got} bytes, allowed ${f.allowed}.`,
    () => 'Write them to a file and pass its path.',
  ),
  file_failed: entry(
    74,
    false,
    'possible',
    (f: With<'action' | 'got' | 'reason'>) => `The file ${f.got} could not be ${f.action}: ${f.reason}.`,
    (f) => String(f.next ?? 'Check its permissions and the free disk space, or use another path.'),
  ),
  patch_failed: entry(
    65,
    false,
    'none',
    (f: With<'reason'>) => `The patch does not apply: ${f.reason}`,
    (f) => String(f.next ?? 'Read the file as it is now and send a corrected patch; nothing was changed.'),
  ),
  address_refused: entry(
    77,
    false,
    'none',
    (f: With<'got' | 'reason'>) =>
      `The address may not be fetched: got ${f.got}, which is ${f.reason}; allowed public addresses.`,
    () => 'Fetch another address; Holdfast’s configuration lists the private ones that are open.',
  ),
  fetch_failed: entry(
    69,
    true,
    'possible',
    (f: With<'got' | 'reason'>) => `${f.got} could not be fetched: ${f.reason}.`,
    () => 'Check the address; if the other side was briefly unavailable, fetch it again.',
  ),
} satisfies Record<string, ErrorEntry>;
