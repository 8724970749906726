// The part of the error catalogue about namespaces and hosts: which one is meant, whether it is online, what it allows.
import { entry, type ErrorEntry, type With } from './error-entry';

export const HOST_ERRORS = {
  host_offline: entry(
    69,
    true,
    // Known beforehand, or found by waiting in vain: in that case an earlier attempt may have been carried out.
    (f) => (f.waitedMs === undefined ? 'none' : 'possible'),
    (f: With<'host' | 'since' | 'reason'> | With<'host' | 'waitedMs'>) =>
      f.waitedMs === undefined
        ? `Host ${f.host} has been offline since ${f.since}: ${f.reason}; nothing was run, here or anywhere else.`
        : `No worker of host ${f.host} took the message within ${f.waitedMs} ms.`,
    (f) =>
      f.host === 'local'
        ? 'Start its worker (`holdfast up`), then send it again.'
        : `Start its worker (\`holdfast host serve ${f.host}\` on that machine), then send it again.`,
  ),
  host_unreachable: entry(
    69,
    true,
    ({ delivered }) => (/^nothing was/.test(String(delivered)) ? 'none' : 'possible'),
    (f: With<'host' | 'reason' | 'delivered'>) =>
      `Host ${f.host} cannot be reached: ${f.reason}; ${f.delivered}.`,
    () =>
      'Come back when it is there: its terminals and their logs go on without anybody. Input that is sent again with the ' +
      'same id is typed once.',
  ),
  no_remote_host: entry(
    69,
    true,
    'none',
    (f: With<'got'>) =>
      `No host is connected: got ${f.got}, allowed one that is online; nothing was run, here or anywhere else.`,
    () =>
      'Tell the user: on the intended machine, run `holdfast host serve NAME`, or `holdfast chat --serve-host`.',
  ),
  unknown_host: entry(
    66,
    false,
    'none',
    (f: With<'allowed' | 'host'>) =>
      `No host has this name: got ${f.host}, allowed ${f.allowed}; nothing was run, here or anywhere else.`,
    (f) => `Name one of these, or run \`holdfast host serve ${f.host}\` on the intended machine.`,
  ),
  ambiguous_host: entry(
    65,
    false,
    'none',
    (f: With<'got'>) =>
      `Several hosts are online and the agent is bound to none: got ${f.got}, allowed one; nothing was run.`,
    () => 'Tell the user which hosts exist; the setting `remoteHost` binds the agent to one.',
  ),
  execution_disabled: entry(
    77,
    false,
    'none',
    (f: With<'host'>) =>
      `Host ${f.host} does not run code: its access is off; nothing was run, here or anywhere else.`,
    (f) => `Tell the user; on that machine, \`holdfast host access ${f.host} read-write\` allows it.`,
  ),
  read_only_host: entry(
    77,
    false,
    'none',
    (f: With<'host' | 'what'>) =>
      `Host ${f.host} is read-only: got ${f.what}, allowed output and reset; nothing was run, here or anywhere else.`,
    (f) => `Tell the user; on that machine, \`holdfast host access ${f.host} read-write\` allows it.`,
  ),
  protocol_mismatch: entry(
    69,
    false,
    'none',
    (f: With<'allowed' | 'got' | 'host' | 'version'>) =>
      `Host ${f.host} speaks another protocol: got ${f.got} (Holdfast ${f.version}), allowed ${f.allowed}; nothing was run.`,
    () => 'Install the same release of Holdfast on both machines.',
  ),
  answer_invalid: entry(
    69,
    false,
    'none',
    (f: With<'places' | 'what'>) =>
      `The answer of ${f.what} is not of the form that it must have (at ${f.places}); nothing of it was used.`,
    () =>
      'Install the same release of Holdfast on both machines. If they have it, something else answers there: look at that host.',
  ),
  host_taken: entry(
    75,
    true,
    'none',
    (f: With<'allowed' | 'got' | 'host' | 'since'>) =>
      `Host ${f.host} belongs to another data folder: got ${f.got}, allowed ${f.allowed}, which has held it since ${f.since}.`,
    (f) =>
      `Choose another name for this one (\`holdfast up --host NAME\`, \`holdfast host serve NAME\`). ` +
      `If the other one will not come back, run \`holdfast host forget ${f.host}\` first.`,
  ),
  folder_in_use: entry(
    75,
    true,
    'none',
    (f: With<'allowed' | 'got' | 'since'>) =>
      `The data folder is used at another place, and one at a time is allowed: got ${f.got}; used as ${f.allowed} since ${f.since}.`,
    () =>
      'Stop the workers of the other place (`holdfast down` there). If that machine is gone, try again 75 seconds after it ' +
      'was last seen. A copy that is to be used beside the original needs an id of its own: delete `folder.json`, ' +
      '`sessions` and `commands` in the copy.',
  ),
  session_elsewhere: entry(
    69,
    false,
    // A command that is delivered again may have begun there.
    'possible',
    (f: With<'host' | 'session'>) =>
      `The shell of session ${f.session} is in a different data folder from the one that now serves host ${f.host}.`,
    () =>
      'Close the session and send the command again: a new shell opens here. The old log stays in the other folder.',
  ),
  queue_taken: entry(
    75,
    false,
    'none',
    (f: With<'allowed' | 'differences' | 'queue'>) =>
      `Workers on ${f.allowed} serve agents on task queue ${f.queue} with different tools or settings: ${f.differences}.`,
    (f) =>
      'Agents would get one or the other by chance. Give this worker what the others have, or its own queue ' +
      `(\`--queue NAME\`, not ${f.queue}); \`--join\` joins anyway, for a gradual rollout.`,
  ),
  foreign_session: entry(
    77,
    false,
    'none',
    (f: With<'got' | 'host'>) =>
      `The session belongs to another host: got ${f.got}, allowed ${f.host}; nothing was done, and this was recorded.`,
    () => 'Send it to the host that the session names.',
  ),
  enrol_failed: entry(
    69,
    false,
    'possible',
    (f: With<'host' | 'reason'>) => `Host ${f.host} could not be enrolled: ${f.reason}.`,
    () => 'Fix that and enrol it again: completed steps are left as they are.',
  ),
  listen_failed: entry(
    69,
    false,
    'none',
    (f: With<'host' | 'reason'>) => `Host ${f.host} cannot take connections: ${f.reason}.`,
    () => 'Fix that, or start it without `--listen`: it is then followed through Temporal.',
  ),
  attach_refused: entry(
    77,
    false,
    'none',
    (f: With<'host' | 'reason'>) => `Host ${f.host} refused the connection: ${f.reason}.`,
    (f) =>
      `Give the token that \`holdfast host token ${f.host}\` prints on that machine, in HOLDFAST_HOST_TOKEN or with --token-file.`,
  ),
} satisfies Record<string, ErrorEntry>;
