// Collects the history of one schedule while its workers are at work.
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { CATALOGUE } from '../../../contracts/errors/catalogue';
import type { ErrorEntry } from '../../../contracts/errors/error-entry';
import { HoldfastError } from '../../../contracts/errors/holdfast-error';
import type { History, Outcome } from './history';

/** An update's failure holds an activity's, and that the real one. */
const CAUSES = 6;

export class Recorder {
  /** Working folder of all shells, which also marks their processes. */
  readonly folder = mkdtempSync(join(tmpdir(), 'holdfast-faults-'));
  readonly effectsFile = join(this.folder, 'effects');
  /** What scripts were told, each a line: id and code. */
  readonly toldFile = join(this.folder, 'told');
  readonly history: History = {
    ...{ told: [], effects: [], repeated: [], printed: [], workers: [], odd: [], left: [], unreplayed: [] },
  };
  /** For the report: what happened when. */
  readonly events: string[] = [];
  private readonly startedAt = Date.now();

  note(what: string): void {
    const line = `${String(Date.now() - this.startedAt).padStart(6)} ms  ${what}`;
    this.events.push(line);
    // For those who watch a schedule that hangs.
    if (process.env.HOLDFAST_FAULT_EVENTS) appendFileSync(process.env.HOLDFAST_FAULT_EVENTS, `${line}\n`);
  }

  tell(effect: string, outcome: Outcome, says: string): void {
    this.history.told.push({ effect, outcome, says });
    this.note(`${effect} ${outcome}: ${says}`);
  }

  /** A failure as the caller of an effect is told it. */
  reportFailure(effect: string, err: unknown): void {
    if (!(err instanceof HoldfastError))
      this.history.odd.push(`${effect}: ${inspect(err, { depth: CAUSES })}`);
    this.tell(effect, err instanceof HoldfastError ? outcomeOf(err.effect) : 'possible', String(err));
  }

  /** The same for one that knows the code alone. */
  tellCode(effect: string, code: string): void {
    const ofStubs = STUBS[code];
    if (ofStubs) return this.tell(effect, ofStubs, code);
    const entry = (CATALOGUE as Record<string, ErrorEntry | undefined>)[code];
    if (!entry) this.history.odd.push(`${effect}: ${code}`);
    this.tell(effect, outcomeOf(entry?.effect({})), code);
  }

  linesOf(file: string): string[] {
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Codes that scripts get from where they are: docs/tools.md. */
const STUBS: Record<string, Outcome | undefined> = { call_lost: 'possible', tools_unavailable: 'refused' };

const outcomeOf = (effect: string | undefined): Outcome =>
  effect === 'none' ? 'refused' : effect === 'happened' ? 'done' : 'possible';
