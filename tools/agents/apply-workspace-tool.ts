// The tool `apply_workspace`: brings what a sub-agent changed in a workspace of its own into the caller's.
import * as z from 'zod/mini';
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { countsText, movedAsideText } from '../../contracts/workspaces/change-texts';
import type { FileChanges } from '../../contracts/workspaces/checkpoints';
import { hostOf, type Tool } from '../tool';
import { ownSubAgent } from './sub-agent';

const argsSchema = z.strictObject({
  agent_id: z.string().check(z.describe('A sub-agent of yours that has ended.')),
  dry_run: z._default(
    z.boolean().check(z.describe('Says what would change or conflict, and changes nothing.')),
    false,
  ),
});

export const applyWorkspaceTool: Tool<z.infer<typeof argsSchema>> = {
  name: 'apply_workspace',
  description:
    'Brings the changes of a sub-agent that worked in its own workspace ("workspace": "own" of spawn_agent) and has ' +
    'ended into your folder. Changes that you made meanwhile stay; where both changed the same lines, nothing is ' +
    'applied and the conflicts are listed. "dry_run" only says what would happen. What you never apply is dropped.',
  args: argsSchema,
  effects: 'idempotent',
  runsOn: 'host',
  async run({ agent_id: agentId, dry_run: dryRun }, context) {
    const { status, workspace, result } = await ownSubAgent(context, agentId);
    if (status !== 'ended') throw notEnded(agentId);
    if (!result?.workspace) throw workspace === 'own' ? notLeft(agentId) : notItsOwn(agentId);
    const { base, hash, folder } = result.workspace;
    const { workspaces } = hostOf(context);
    if (!workspaces) throw new HoldfastError('internal', { reason: 'this host has no workspaces' });
    const { agent, settings, key } = context;
    const asked = { agent, key, cwd: settings.cwd ?? null, base, theirs: hash, dryRun };
    const { applied, conflicts, leftOut, movedAside } = await workspaces.apply(asked);
    if (conflicts.length > 0) {
      const paths = conflicts.map(({ path, why }) => `${path} (${why})`).join(', ');
      throw new HoldfastError('workspace_conflict', { agent: agentId, paths, ...(folder && { folder }) });
    }
    const done = `${dryRun ? 'Would apply' : 'Applied'}: ${countsText(applied.counts)}${listOf(applied)}`;
    return [
      done,
      ...(movedAside ? [`${movedAsideText(movedAside)}.`] : []),
      ...(leftOut.length > 0 ? [leftOutText(leftOut, folder)] : []),
    ].join('\n');
  },
};

/** A model needs no longer list to know what is missing. */
const NAMED_FILES = 20;
const MARKS = { added: 'A', modified: 'M', deleted: 'D' } as const;

const listOf = ({ paths, omitted }: FileChanges): string =>
  [
    ...paths.map(({ kind, path }) => `\n${MARKS[kind]} ${path}`),
    ...(omitted > 0 ? [`\n… and ${omitted} more`] : []),
  ].join('');

function leftOutText(paths: readonly string[], folder: string | undefined): string {
  const named = paths.slice(0, NAMED_FILES).join(', ');
  const more = paths.length > NAMED_FILES ? ` and ${paths.length - NAMED_FILES} more` : '';
  const where = folder === undefined ? 'They were removed with its folder.' : `They are still in ${folder}.`;
  return `Not applied, since no checkpoint holds them (too large, or not readable): ${named}${more}. ${where}`;
}

const notEnded = (agentId: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'agent_id',
    got: `${agentId}, which is still running`,
    allowed: 'a sub-agent that has ended',
    next: 'Wait for it with wait_for_agents first.',
  });

const notLeft = (agentId: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'agent_id',
    got: `${agentId}, whose own workspace was not left to you: its host was away when it ended, it was terminated, or its folder could not be made or recorded`,
    allowed: 'a sub-agent whose result has "changes"',
    next:
      'Nothing that it changed there is in your folder. Have it done again, or tell the user: its last checkpoint, if ' +
      'there is one, is kept among yours on its host (docs/files.md).',
  });

const notItsOwn = (agentId: string): HoldfastError =>
  new HoldfastError('invalid_input', {
    what: 'agent_id',
    got: `${agentId}, which left no workspace of its own`,
    allowed: 'a sub-agent spawned with "workspace": "own"',
    next: 'What it changed in your folder is there already.',
  });
