// What the disk of a host holds of each command that outlasts its activity: what the next worker needs to follow it.
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunCommandInput } from '../../contracts/sessions/host';
import { readJson, removeQuietly, writeJson } from '../../system/json-file';
import { makeFolder } from '../../system/make-folder';
import type { KnownWait } from './later-waits';

/** Its id counts from the beginning in each run of its workflow. */
export type ActivityRef = Record<'runId' | 'activityId', string>;

export interface JournalEntry {
  token: string;
  /** That of the token; absent if no workflow asked for it. */
  activity?: ActivityRef;
  input: Omit<RunCommandInput, 'code'>;
  yielded: boolean;
  /** Its workflow may have had a view of it already, from a worker that was killed: it takes only one that says so. */
  isAgain?: boolean;
  /** Its workflow has been notified that the command's state is unknown. */
  troubled?: boolean;
  /** Where its span belongs, as a `traceparent`; absent if nothing is traced. */
  traceparent?: string;
  /** The wait of the program that its workflow knows of. */
  wait?: KnownWait;
}

/** Names a command in all sessions of a host. */
export function keyOf({ ref, commandId }: Pick<RunCommandInput, 'ref' | 'commandId'>): string {
  const command = `${ref.agent}.${ref.host}.${ref.session}.${commandId}`;
  return createHash('sha256').update(command).digest('hex').slice(0, 32);
}

export class CommandJournal {
  constructor(private readonly folder: string) {
    makeFolder(folder);
  }

  /** Those that can be read. */
  entries(): JournalEntry[] {
    return readdirSync(this.folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readJson<JournalEntry>(join(this.folder, name)))
      .filter((entry) => entry !== undefined);
  }

  /** Throws what the file system does. */
  keep(entry: JournalEntry): void {
    writeJson(this.path(entry), entry);
  }

  /** If the file stays, the next worker finds that the server no longer knows the activity. */
  forget(entry: JournalEntry): void {
    removeQuietly(this.path(entry));
  }

  private path({ input }: JournalEntry): string {
    return join(this.folder, `${keyOf(input)}.json`);
  }
}
