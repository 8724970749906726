// Shapes of checkpoints and rewinds: in messages, in answers, and in the requests of short workflows.
import { idSchema } from './session';
import { z } from './zod';

const text = z.string();
const count = z.int();
const orNull = <T extends z.core.SomeType>(schema: T): z.ZodMiniNullable<T> => z.nullable(schema);

const someFiles = z.object({ count, first: z.array(z.object({ path: text, why: text })) });

const movedFiles = z.object({ count, first: z.array(z.object({ path: text, to: text })) });

export const changeCounts = z.object({ added: count, modified: count, deleted: count });
export const checkpointOutcome = z.union([
  z.object({
    state: z.literal('kept'),
    hash: text,
    files: count,
    bytes: count,
    changes: orNull(changeCounts),
    skipped: z.optional(someFiles),
  }),
  z.object({ state: z.enum(['off', 'missing']), reason: text }),
]);
export const fileChanges = z.object({
  counts: changeCounts,
  paths: z.array(
    z.object({
      path: text,
      kind: z.enum(['added', 'modified', 'deleted']),
      insertions: z.optional(count),
      deletions: z.optional(count),
    }),
  ),
  omitted: count,
});
export const rewindResult = z.object({
  step: orNull(count),
  to: count,
  files: orNull(
    z.object({
      hash: text,
      before: text,
      changes: fileChanges,
      notRestored: z.optional(someFiles),
      movedAside: z.optional(movedFiles),
    }),
  ),
  messages: orNull(count),
  running: z.array(count),
});

export const leftWorkspace = z.object({
  base: text,
  hash: text,
  counts: changeCounts,
  folder: z.optional(text),
});
export const checkpointMessage = z.object({
  role: z.literal('checkpoint'),
  turn: count,
  step: count,
  before: z.optional(z.literal(true)),
  outcome: checkpointOutcome,
});
export const rewindMessage = z.object({
  role: z.literal('rewind'),
  step: count,
  to: count,
  id: z.optional(text),
  keeps: z.optional(count),
  files: z.optional(
    z.object({
      hash: text,
      before: text,
      counts: changeCounts,
      notRestored: z.optional(count),
      movedAside: z.optional(count),
    }),
  ),
});

/** The hash of a commit. */
const hash = z.string().check(z.regex(/^[0-9a-f]{40,64}$/));
const folder = z.string().check(z.minLength(1), z.maxLength(4_096));

/** A folder of an agent's own, which begins as a copy of another workspace: part of an agent's input. */
export const wantedWorkspaceSchema = z.strictObject({
  /** The folder that it begins as a copy of; null: the host's own working folder. */
  of: z.nullable(folder),
  /** The checkpoint to begin with. Default: what is there now. */
  hash: z.optional(hash),
  /** The agent that is to get what it leaves: then the folder is removed at its end. Default: the folder stays. */
  for: z.optional(idSchema),
  /** Once it is made: the checkpoint that it began with. Its folder is the agent's `cwd`. */
  base: z.optional(hash),
});
export type WantedWorkspace = z.infer<typeof wantedWorkspaceSchema>;

export const compareCheckpointsSchema = z.strictObject({
  host: idSchema,
  agent: idSchema,
  from: z.nullable(hash),
  to: hash,
  lines: z.boolean(),
});
export type CompareCheckpointsInput = z.infer<typeof compareCheckpointsSchema>;

export const rewindFilesSchema = z.strictObject({
  host: idSchema,
  agent: idSchema,
  cwd: z.nullable(folder),
  to: hash,
  expected: z.nullable(hash),
  foreign: z.array(z.tuple([hash, hash])).check(z.maxLength(10_000)),
  force: z.boolean(),
  dryRun: z.boolean(),
});
export type RewindFilesOfHostInput = z.infer<typeof rewindFilesSchema>;
