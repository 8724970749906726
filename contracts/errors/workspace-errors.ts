// The part of the error catalogue about the files of workspaces and their checkpoints.
import { entry, type ErrorEntry, type With } from './error-entry';

export const WORKSPACE_ERRORS = {
  workspace_changed: entry(
    65,
    false,
    ({ begun }) => (begun ? 'possible' : 'none'),
    (f: With<'count' | 'got'>) =>
      `Files that this would change were changed by somebody else${f.running ? `, or by what runs in ${f.running}` : ''} ` +
      `(${f.count}): got ${f.got}; ` +
      `${f.begun ? 'an earlier attempt has changed other files' : 'nothing was changed'}.`,
    (f) =>
      f.running === undefined
        ? 'Look at them first. With `--force` they are changed all the same, and kept in a checkpoint before.'
        : 'Look at them first. With `--force --stop` what runs is ended, and they are changed all the same, and kept in a ' +
          'checkpoint before.',
  ),
  workspace_moved: entry(
    65,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `The workspace is another folder than the one in which the checkpoint was taken: got ${f.got}, allowed ` +
      `${f.allowed}; nothing was changed.`,
    () =>
      'Let its path lead there again. With `--force` the files are brought back in the folder that it leads to now, and ' +
      'what is there is kept in a checkpoint before.',
  ),
  no_checkpoint: entry(
    66,
    false,
    'none',
    (f: With<'allowed' | 'got'>) =>
      `There is no checkpoint of its files: got ${f.got}, allowed ${f.allowed}.`,
    () =>
      'See `holdfast log AGENT`. Checkpoints are taken where the agent has a folder of its own (`--cwd`, or a git ' +
      'repository), unless `[checkpoints]` in holdfast.toml says otherwise.',
  ),
  checkpoint_missing: entry(
    66,
    false,
    'none',
    (f: With<'got'>) =>
      `The checkpoint is not in the store of this host: got ${f.got}, allowed one that it keeps; nothing was changed.`,
    () =>
      'Name another checkpoint of this agent. Those of ended agents are removed, and each host has only its own.',
  ),
  workspace_failed: entry(
    74,
    false,
    'none',
    (f: With<'reason'>) => `The agent cannot have a workspace of its own: ${f.reason}.`,
    () =>
      'Start it without one, or change what stands in the way (`[checkpoints]` in holdfast.toml, free space on the disk).',
  ),
  workspace_conflict: entry(
    65,
    false,
    'none',
    (f: With<'agent' | 'paths'>) =>
      `The changes of ${f.agent} conflict with yours in: ${f.paths}; nothing was applied` +
      `${f.folder ? `, and its files are in ${f.folder}` : ''}.`,
    () =>
      'Change these files so that they agree, or read what it changed (its answer, its files) and make the changes yourself.',
  ),
  checkpoint_failed: entry(
    75,
    true,
    'possible',
    (f: With<'reason'>) => `The files of the workspace could not be recorded or moved: ${f.reason}.`,
    () => 'Fix that and send it again: what has begun is finished first, and what is done is not done twice.',
  ),
} satisfies Record<string, ErrorEntry>;
