// The durable record of each command of a session: written before the command is handed to the shell and
// again at its end. It is why a command id can never run twice, not even after its holder died.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime } from '../contracts/session';
import { readJson, writeJson } from './json-file';
import type { CommandRecord } from './protocol';

/** What the id of a command stands for. */
export const contentHash = (runtime: Runtime, code: string): string =>
  createHash('sha256').update(`${runtime}\n${code}`).digest('hex');

export class CommandRecords {
  constructor(private readonly directory: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  }

  read(id: string): CommandRecord | undefined {
    return readJson<CommandRecord>(this.path(id));
  }

  write(record: CommandRecord): void {
    writeJson(this.path(record.id), record);
  }

  /** The command that began last; reads every record, so it is for start-up only. */
  latest(): CommandRecord | undefined {
    return readdirSync(this.directory)
      .filter((name) => name.endsWith('.json'))
      .map((name) => readJson<CommandRecord>(join(this.directory, name)))
      .filter((record) => record !== undefined)
      .sort((a, b) => a.startedAt - b.startedAt || a.from - b.from)
      .at(-1);
  }

  /** Ids come from callers and may hold anything: only their hash becomes a file name. */
  private path(id: string): string {
    return join(this.directory, `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.json`);
  }
}
