// The ids of a session's messages. Each stands for its content: sending the same again repeats nothing; other content
// with the same id is refused in the validator, before it costs history.
import { contentHash, execContent, inputContent, resetContent } from '../../contracts/message-content';
import type { ExecRequest, InputRequest, ResetRequest } from '../../contracts/schemas/session';
import { refuse } from '../messages/refusal';
import { findId, isOther, rememberId, withOpen, withoutId } from '../messages/known-ids';
import type { SessionRecord } from './session-record';

/** Also across continue-as-new. The host knows the ids of all commands that have begun, as long as the log exists. */
const REMEMBERED_COMMANDS = 200;
const REMEMBERED_INPUTS = 500;
const REMEMBERED_RESETS = 100;

export class SessionIds {
  /** Resets that the host has not answered yet. */
  private readonly resetting = new Set<string>();
  /** Inputs of this run that the host has not answered yet. */
  private readonly sending = new Set<string>();

  constructor(private readonly record: SessionRecord) {}

  /** Throws `id_conflict`. */
  checkCommand(id: string | undefined, request: ExecRequest): void {
    if (id === undefined) return;
    const { command, commandIds } = this.record;
    const content = execContent(request);
    const isOfRunning =
      command?.id === id && contentHash(id, execContent(command)) !== contentHash(id, content);
    if (isOfRunning || isOther(commandIds, id, content)) refuse('id_conflict', { got: id });
  }

  isKnownCommand(id: string | undefined): boolean {
    return id !== undefined && findId(this.record.commandIds, id) !== undefined;
  }

  /** True the first time; a known id is a repetition. */
  rememberCommand(id: string, request: ExecRequest): boolean {
    return rememberId(this.record.commandIds, id, execContent(request), REMEMBERED_COMMANDS);
  }

  forgetCommand(id: string): void {
    this.record.commandIds = withoutId(this.record.commandIds, id);
  }

  isKnownInput(id: string | undefined): boolean {
    return id !== undefined && findId(this.record.inputIds, id) !== undefined;
  }

  /** Throws `id_conflict`. */
  checkInput(id: string | undefined, request: InputRequest): void {
    if (id !== undefined && isOther(this.record.inputIds, id, inputContent(request)))
      refuse('id_conflict', { got: id });
  }

  /** True the first time; a known id is a repetition, unless the run before ended without the host's answer to it. */
  rememberInput(id: string, request: InputRequest): boolean {
    const { inputIds } = this.record;
    if (rememberId(inputIds, id, inputContent(request), REMEMBERED_INPUTS)) return true;
    const known = findId(inputIds, id);
    return known?.isOpen === true && !this.sending.has(id);
  }

  /** Until `inputEnds`. If this run ends first, the next one sends it again: the host knows whether it was typed. */
  inputBegins(id: string): void {
    this.sending.add(id);
    this.record.inputIds = withOpen(this.record.inputIds, id, true);
  }

  inputEnds(id: string): void {
    this.sending.delete(id);
    this.record.inputIds = withOpen(this.record.inputIds, id, false);
  }

  forgetInput(id: string): void {
    this.record.inputIds = withoutId(this.record.inputIds, id);
  }

  /** Throws `id_conflict`. */
  checkReset(id: string | undefined, request: ResetRequest): void {
    if (id !== undefined && isOther(this.record.resetIds, id, resetContent(request)))
      refuse('id_conflict', { got: id });
  }

  isKnownReset(id: string): boolean {
    return this.resetting.has(id) || findId(this.record.resetIds, id) !== undefined;
  }

  /** Runs beside the answer, which must not come later than in recorded histories: a replay needs the same order. */
  rememberedReset<T>(done: Promise<T>, id: string, request: ResetRequest): Promise<T> {
    this.resetting.add(id);
    done.then(
      () => {
        this.resetting.delete(id);
        rememberId(this.record.resetIds, id, resetContent(request), REMEMBERED_RESETS);
      },
      // It was refused, or it is unknown whether it was done: the same id may be sent again.
      () => this.resetting.delete(id),
    );
    return done;
  }
}
