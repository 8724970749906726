// What a model on another machine writes, as tokens: made of looks at the whole, of which the server keeps only the end.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { RunningModelCall } from '../../client/agents/model-calls';
import { LIVE_TOKENS_FOLDER, type LiveToken } from '../../contracts/models/live-tokens';

/** Stands for what was written while it was not followed, and is no longer there. */
export const GAP = '\u2026';

export class WrittenElsewhere {
  private shown: { id: string; attempt: number; turn: string; length: number } | undefined;

  constructor(
    private readonly dataDir: string,
    private readonly agent: string,
  ) {}

  /** What is new since the last look; `turn` is the workflow id of the running turn, null if none runs. */
  look(turn: string | null, call: RunningModelCall | null): LiveToken[] {
    const { agent, shown } = this;
    const isSame = shown && shown.id === call?.id && shown.attempt === call.attempt;
    const tokens: LiveToken[] = [];
    if (shown && !isSame) {
      this.shown = undefined;
      // A further attempt writes it anew.
      tokens.push({ kind: shown.id === call?.id ? 'reset' : 'end', agent, turn: shown.turn });
    }
    const written = call?.written;
    if (turn === null || !written || this.isHere(written.writer)) return tokens;
    const before = this.shown?.length ?? 0;
    if (written.length <= before) return tokens;
    const missing = written.length - written.end.length - before;
    const text = missing > 0 ? GAP + written.end : written.end.slice(before - written.length);
    this.shown = { id: call.id, attempt: call.attempt, turn, length: written.length };
    return [...tokens, { kind: 'text', agent, turn, text }];
  }

  /** Then its hub publishes it, sooner. */
  private isHere(writer: string): boolean {
    return /^[\w-]+$/.test(writer) && existsSync(join(this.dataDir, LIVE_TOKENS_FOLDER, `${writer}.json`));
  }
}
