// The catalogue of Holdfast's own errors: code -> exit code, retryability, message and next step. Pure.
import { ENCRYPTION_ERRORS } from './encryption-errors';
import { entry, sentence, type ErrorEntry, type With } from './error-entry';
import { ENGINE_ERRORS } from './engine-errors';
import { FILE_ERRORS } from './file-errors';
import { GATEWAY_ERRORS } from './gateway-errors';
import { HOST_ERRORS } from './host-errors';
import { MODEL_ERRORS } from './model-errors';
import { POLICY_ERRORS } from './policy-errors';
import { SECRET_ERRORS } from './secret-errors';
import { STORAGE_ERRORS } from './storage-errors';
import { TOOL_ERRORS } from './tool-errors';
import { WORKSPACE_ERRORS } from './workspace-errors';

export const CATALOGUE = {
  ...TOOL_ERRORS,
  ...MODEL_ERRORS,
  ...HOST_ERRORS,
  ...ENGINE_ERRORS,
  ...FILE_ERRORS,
  ...GATEWAY_ERRORS,
  ...POLICY_ERRORS,
  ...ENCRYPTION_ERRORS,
  ...SECRET_ERRORS,
  ...STORAGE_ERRORS,
  ...WORKSPACE_ERRORS,
  invalid_input: entry(
    64,
    false,
    'none',
    (f: With<'allowed' | 'got' | 'what'>) => `${f.what} is invalid: got ${f.got}, allowed ${f.allowed}.`,
    (f) => String(f.next ?? 'Correct the value and send it again; nothing was started.'),
  ),
  not_found: entry(
    66,
    false,
    'possible',
    (f: With<'got' | 'what'>) =>
      `${f.what} ${f.ended ? 'has ended' : 'does not exist'}: got ${f.got}${f.allowed ? `, allowed ${f.allowed}` : ''}.`,
    (f) =>
      String(
        f.next ?? (f.ended ? 'Run `holdfast ps --all` to see how.' : 'Run `holdfast ps` to see what exists.'),
      ),
  ),
  busy: entry(
    75,
    true,
    'none',
    (f: With<'from' | 'session'>) =>
      `Session ${f.session} is busy with another command (since offset ${f.from}); nothing was typed.` +
      (f.recent ? ` Its recent output:\n${f.recent}\n` : ''),
    (f) =>
      `Look at it with runtime "output", answer it with "input", stop it with runtime "reset", ` +
      `or use a session other than ${f.session}.`,
  ),
  no_running_process: entry(
    65,
    false,
    'none',
    (f: With<'session'>) => `Session ${f.session} has no running process to take input; nothing was typed.`,
    () => 'Start a process with code_execution_tool first, and send input to the same session.',
  ),
  prompt_over: entry(
    65,
    false,
    'none',
    (f: With<'session'>) =>
      `What waited for input in session ${f.session} has been answered or has ended; nothing was typed.`,
    () => 'Look at its output, and answer what it asks now.',
  ),
  input_too_long: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `A line of input is too long for the terminal: got ${f.got} bytes, allowed ${f.allowed} bytes in a line.`,
    () => 'Write the text to a file and have the program read it; nothing was typed.',
  ),
  input_queue_full: entry(
    75,
    true,
    'none',
    (f: With<'allowed' | 'session'>) =>
      `Too much input is waiting to be typed in session ${f.session}: allowed ${f.allowed} bytes; this was not typed.`,
    () => 'Send it again once the earlier input has been typed.',
  ),
  offset_out_of_range: entry(
    65,
    false,
    'possible',
    (f: With<'allowed' | 'got'>) =>
      `The offset lies outside the log: got ${f.got}, allowed ${f.from ?? 0} to ${f.allowed}.`,
    (f) => `Read from offset ${f.allowed} to wait for new output.`,
  ),
  id_conflict: entry(
    65,
    false,
    'none',
    (f: With<'got'>) => `The id ${f.got} was already used with different content; nothing was done.`,
    () => 'Use a fresh id for new content, or resend the original content to get its recorded result.',
  ),
  answer_forgotten: entry(
    69,
    false,
    'happened',
    (f: With<'got'>) => `The message ${f.got} was accepted before, but its answer is no longer kept.`,
    () => 'Read the answer in the transcript, or send the message again with a fresh id.',
  ),
  session_limit: entry(
    69,
    false,
    'none',
    (f: With<'agent' | 'allowed'>) =>
      `Agent ${f.agent} has reached its limit of open sessions: allowed ${f.allowed}; nothing was run.`,
    (f) =>
      f.closable
        ? `Use one of its idle sessions (${f.closable}), or close them with \`holdfast close --session N\`.`
        : 'All of them are busy: wait for one, or end its command with runtime "reset" and reuse it.',
  ),
  wait_ended: entry(
    69,
    false,
    'none',
    (f: With<'reason' | 'session'>) =>
      `The wait ended because session ${f.session}, which was doing the waiting, was closed (${f.reason}).`,
    () => 'Ask one of the other sessions, or look at each with `output`.',
  ),
  typist_busy: entry(
    75,
    true,
    'none',
    (f: With<'session' | 'who'>) => `Someone else is typing in session ${f.session}: ${f.who}.`,
    () => 'Watch with --watch, or take the keyboard over with --take.',
  ),
  session_closed: entry(
    69,
    false,
    'possible',
    (f: With<'reason' | 'session'>) => `Session ${f.session} is closed (${f.reason}).`,
    () =>
      'Send the command again with the same id: this reopens the session and reruns nothing that already ran.',
  ),
  session_lost: entry(
    69,
    false,
    'possible',
    (f: With<'reason' | 'session'>) =>
      `The terminal of session ${f.session} is gone: ${f.reason}. Its log is kept, and its command is not run again.`,
    () => 'Look at the log, decide whether the command took effect, then send the next command.',
  ),
  not_begun: entry(
    69,
    false,
    'none',
    (f: With<'reason' | 'session'>) =>
      `The command was given up before it began in session ${f.session}: ${f.reason}; nothing was run.`,
    () => 'If it is still wanted, send it again with a new id.',
  ),
  draining: entry(
    75,
    true,
    'possible',
    (f) => `${f.what ?? 'The session'} is about to continue as new and accepts no messages for a moment.`,
    () => 'Send the same message with the same id again; the client does this by itself.',
  ),
  no_worker: entry(
    69,
    true,
    'possible',
    (f: With<'address' | 'taskQueue'>) => `No worker polls task queue ${f.taskQueue} at ${f.address}.`,
    () => 'Start one with `holdfast up` (with the same --address), then try again.',
  ),
  worker_silent: entry(
    69,
    true,
    'possible',
    (f: With<'pid' | 'reason'> | With<'taskQueue' | 'got'>) =>
      f.pid === undefined
        ? `No worker of task queue ${f.taskQueue} answers: one took a task of workflow ${f.got} and has not been heard from since.`
        : `The worker ${f.pid} does not answer: ${f.reason}.`,
    (f) =>
      f.pid === undefined
        ? 'Check the worker’s process: it is stopped, overloaded or was just killed. On its machine, `holdfast doctor` ' +
          'says which, and `holdfast up --replace` ends it and starts another, which then handles the message.'
        : '`holdfast up --replace` ends it and starts another, which takes over its work.',
  ),
  workflow_stuck: entry(
    70,
    true,
    'possible',
    (f: With<'attempts' | 'got'>) =>
      `Workflow ${f.got} keeps failing the same task: got ${f.attempts} attempts.`,
    () =>
      'Look at its last failure in the web UI or the worker’s log. Usually its history was written by another ' +
      'release: run that release, or terminate the workflow; a session’s log is kept. If payloads are encrypted, one ' +
      'may have been refused: the log says which.',
  ),
  no_server: entry(
    69,
    true,
    'possible',
    (f: With<'address' | 'reason'>) => `No Temporal server answers at ${f.address}: ${f.reason}.`,
    (f) =>
      String(
        f.next ??
          'Check --address, TEMPORAL_ADDRESS or the Temporal profile, or run `holdfast up` without them.',
      ),
  ),
  namespace_missing: entry(
    69,
    false,
    'none',
    (f: With<'got'>) => `The Temporal server has no such namespace: got ${f.got}.`,
    () =>
      'Check --namespace, TEMPORAL_NAMESPACE and the Temporal profile (the embedded server has only `default`), or create it: ' +
      '`temporal operator namespace create -n NAME`.',
  ),
  deadline: entry(
    75,
    true,
    'possible',
    (f: With<'waitedMs' | 'what'>) => `${f.what} did not answer within ${f.waitedMs} ms.`,
    () => 'Look at `holdfast ps` and `holdfast doctor`, then send it again with the same id.',
  ),
  no_working_folder: entry(
    65,
    false,
    'none',
    (f: With<'got' | 'reason'>) =>
      `The working folder cannot be used: got ${f.got}, which ${f.reason}; nothing was run.`,
    () => 'Make it on the machine of the shell, or name another one.',
  ),
  terminal_failed: entry(
    71,
    false,
    'possible',
    (f: With<'reason'>) => `The terminal could not be started: ${f.reason}.`,
    () => 'Run `holdfast doctor`.',
  ),
  sandbox_missing: entry(
    69,
    false,
    'none',
    (f: With<'reason'>) =>
      `A sandbox is required but not available on this host: ${f.reason}; nothing was started.`,
    () =>
      'Install bubblewrap 0.8 or newer and allow it to create user namespaces (`holdfast doctor` tests this); or set ' +
      '"sandbox.mode" to "prefer" or "off", which runs code with all of the user’s permissions.',
  ),
  missing_program: entry(
    69,
    false,
    'none',
    (f: With<'program' | 'runtime'>) =>
      `Runtime ${f.runtime} needs ${f.program}, which is not on the session's PATH; nothing was run.`,
    (f) => `Install ${f.program}, or use another runtime.`,
  ),
  dependencies_failed: entry(
    69,
    false,
    'possible',
    () => 'The packages that the script names could not be installed, so the script was not run.',
    () => 'Read the installer’s output above, then fix the dependencies or the network.',
  ),
  missing_packages: entry(
    69,
    false,
    'none',
    (f: With<'installer' | 'modules' | 'packages'>) =>
      `The script imports modules that are not installed: ${f.modules}; none of it was run.`,
    (f) => `Install the missing packages (${f.installer} ${f.packages}), then run the script again.`,
  ),
  config_invalid: entry(
    78,
    false,
    'none',
    (f: With<'faults'>) => `The configuration is invalid: ${sentence(f.faults)}`,
    () => 'Fix each of these and start again.',
  ),
  replay_failed: entry(
    70,
    false,
    'none',
    (f: With<'got' | 'reason'>) => `The history of ${f.got} does not replay: ${f.reason}`,
    () =>
      'The workflow’s code no longer schedules the same commands. Revert the change, or guard it with `patched` ' +
      'so that open workflows keep the old path.',
  ),
  output_failed: entry(
    74,
    true,
    'possible',
    (f: With<'reason'>) => `The output could not be written: ${f.reason}.`,
    () =>
      'Free some space or write it elsewhere; commands in sessions kept running, and their logs are complete.',
  ),
  worker_failed: entry(
    70,
    true,
    'possible',
    (f: With<'log' | 'reason'>) => `The worker did not start: ${f.reason}`,
    (f) => `Look at ${f.log}, then run \`holdfast up\` again.`,
  ),
  gateway_failed: entry(
    70,
    true,
    'possible',
    (f: With<'log' | 'reason'>) => `The API and the page did not start: ${f.reason}`,
    (f) =>
      `The server and the worker run. Look at ${f.log}, then run \`holdfast up\` again, with \`--no-serve\` for neither.`,
  ),
  worker_running: entry(
    75,
    true,
    'none',
    (f: With<'dataDir' | 'host'>) =>
      `Another worker serves host ${f.host} on ${f.dataDir}: got two, allowed one.`,
    () =>
      'Stop the other one first (`holdfast down` if the command line started it), or name another data folder.',
  ),
  agent_closed: entry(
    69,
    false,
    'possible',
    (f: With<'reason'>) => `The agent no longer accepts messages: ${f.reason}.`,
    () => 'Start another one, or fork this one: `holdfast fork` starts from its conversation.',
  ),
  agent_working: entry(
    75,
    true,
    'none',
    (f: With<'agent' | 'what'>) =>
      `Agent ${f.agent} is working: got ${f.what}, allowed while it waits for a message; nothing was changed.`,
    (f) =>
      `Wait for its turn to end, or end it (\`/interrupt\` or Ctrl-C in a chat, \`holdfast recover ${f.agent}\`), and ` +
      'send it again.',
  ),
  agent_ended: entry(
    75,
    false,
    'possible',
    (f: With<'agent' | 'how'>) => `Agent ${f.agent} ended without a result: ${f.how}.`,
    () => 'Its turns and its sessions’ logs are kept: look at them, then start another agent.',
  ),
  turn_left_over: entry(
    75,
    true,
    'none',
    (f: With<'got'>) =>
      `The message was not answered: a turn of an earlier agent has the workflow id ${f.got}, and does not end.`,
    () =>
      'Terminate that workflow in the web UI or with `temporal workflow terminate`, and send the message again.',
  ),
  unknown_outcome: entry(
    70,
    false,
    'possible',
    (f: With<'reason' | 'what'>) => `It is unknown whether ${f.what} took effect: ${f.reason}`,
    (f) => String(f.next ?? 'Check the effect before doing it again.'),
  ),
  node_too_old: entry(
    69,
    false,
    'none',
    (f: With<'allowed' | 'got'>) => `Holdfast needs a newer Node: got ${f.got}, allowed ${f.allowed}.`,
    () => 'Install a newer Node, for example from https://nodejs.org or with `nvm install --lts`.',
  ),
  internal: entry(
    70,
    false,
    'possible',
    (f: With<'reason'>) => `Something in Holdfast itself failed: ${f.reason}`,
    () => 'This is a bug: report it with the log.',
  ),
} satisfies Record<string, ErrorEntry>;
