// A client as `client/delivery` makes them: it sends until it is answered, under the same id, and says how that ended.
import { fromFailure } from '../../../contracts/errors/failure';
import type { Agenda, Life } from '../server/agenda';
import { errorOf } from '../server/payloads';
import { Refused, type SimulatedServer } from '../server/server';
import type { UpdateOutcome } from '../server/update';
import type { Answer, Facts } from './facts';

export interface Request {
  /** Names it in the facts. */
  id: string;
  /** The same again is the same update for the server. Default: its id. */
  updateId?: string;
  workflowId: string;
  message: string;
  content: object;
  /** Starts the workflow if it is not running. */
  start?: { type: string; args: readonly unknown[] };
}

const AGAIN_MS = 100;
/** Until a client finds out that its connection is dead. */
const DEAD_MS = 2_000;
/** What closes a session may take a while. */
const CLOSING_MS = 5_000;
const PATIENCE_MS = 60_000;

interface Sending {
  request: Request;
  of: Life | undefined;
  done: (answer: Answer) => void;
  failingSince: number | undefined;
  isOver: boolean;
}

export class Clients {
  /** So many of the next answers are lost on their way. */
  answersToLose = 0;
  private readonly open = new Map<string, Sending>();

  constructor(
    private readonly agenda: Agenda,
    private readonly server: SimulatedServer,
    private readonly facts: Facts,
  ) {}

  /** Of a person: rules judge the answer. */
  ask(request: Request): void {
    const { id, updateId = id, message, workflowId: of, content } = request;
    this.facts.add({ is: 'asked', isNew: updateId === id, request: id, message, of, content });
    const done = (answer: Answer): void => {
      this.open.delete(id);
      this.facts.add({ is: 'answered', request: id, answer });
    };
    const sending: Sending = { request, of: undefined, done, failingSince: undefined, isOver: false };
    this.open.set(id, sending);
    this.send(sending);
  }

  /** Of a process, which asks no more once it is over. */
  askFor(request: Request, of: Life, done: (answer: Answer) => void): void {
    this.send({ request, of, done, failingSince: undefined, isOver: false });
  }

  /** Nobody waits for the oldest one any more. */
  giveUp(): void {
    const [sending] = this.open.values();
    if (!sending) return;
    sending.isOver = true;
    this.open.delete(sending.request.id);
    this.facts.add({ is: 'gave-up', request: sending.request.id });
  }

  signal(workflowId: string, name: string, content: object): void {
    this.agenda.add(`signal ${name} to ${workflowId}`, () => {
      const isTaken = this.server.signalIfOpen(workflowId, name, content);
      const { id = '' } = content as { id?: string };
      if (isTaken) this.facts.add({ is: 'signalled', of: workflowId, name, id, content });
    });
  }

  private send(sending: Sending): void {
    const { message, workflowId, id } = sending.request;
    const arrive = (): void => {
      if (sending.isOver) return;
      try {
        this.deliver(sending, workflowId);
      } catch (err) {
        if (!(err instanceof Refused)) throw err;
        if (err.why === 'too-many') this.sendAgain(sending, AGAIN_MS);
        else this.answer(sending, { is: 'no-workflow' });
      }
    };
    this.agenda.add(`${message} ${id} arrives`, arrive, sending.of);
  }

  private deliver(sending: Sending, workflowId: string): void {
    const { id, message, content, start } = sending.request;
    if (start) this.server.start(workflowId, start.type, start.args, true);
    let isAnswered = false;
    this.server.update(
      workflowId,
      { id: sending.request.updateId ?? id, name: message, args: [content] },
      (outcome) => {
        if (isAnswered) return;
        isAnswered = true;
        if (this.answersToLose > 0) {
          this.answersToLose -= 1;
          this.sendAgain(sending, DEAD_MS);
        } else this.agenda.add(`answer to ${message} ${id}`, () => this.hear(sending, outcome), sending.of);
      },
    );
  }

  private hear(sending: Sending, outcome: UpdateOutcome): void {
    if (outcome.is === 'cut-off' || outcome.is === 'not-taken') return this.sendAgain(sending, AGAIN_MS);
    if (outcome.is === 'completed') return this.answer(sending, { is: 'done', value: outcome.result });
    const error = fromFailure(errorOf(outcome.failure));
    if (!error) return this.answer(sending, { is: 'failed', message: outcome.failure.message ?? '' });
    sending.failingSince ??= this.agenda.nowMs;
    const isPatient = this.agenda.nowMs - sending.failingSince < PATIENCE_MS;
    if (error.code === 'draining' && isPatient) return this.sendAgain(sending, AGAIN_MS);
    if (error.code === 'session_closed' && isPatient) return this.sendAgain(sending, CLOSING_MS);
    this.answer(sending, { is: 'refused', error });
  }

  private sendAgain(sending: Sending, ms: number): void {
    const { message, id } = sending.request;
    const again = (): void => {
      if (!sending.isOver) this.send(sending);
    };
    this.agenda.after(ms, `${message} ${id} is sent again`, again, sending.of);
  }

  private answer(sending: Sending, answer: Answer): void {
    if (sending.isOver) return;
    sending.isOver = true;
    sending.done(answer);
  }
}
