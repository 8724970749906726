// Connects messages to the methods of a workflow. Updates are refused before they cost history; the refusal of a signal
// is kept, because its sender gets no answer. Adds no promise of its own: an answer must come when it did in released
// histories, since a replay needs the same order. For the same reason, handlers are set in a fixed order: Temporal
// delivers the signals that are waiting the moment their handler is set.
import { defineQuery, defineSignal, defineUpdate, setHandler } from '@temporalio/workflow';
import { descriptionOf, type Message } from '../../contracts/messages/message';
import { checkedRequest } from './refusal';

interface Workflow {
  /** Refuses an update that is malformed, which `parse` does, and any while the workflow takes none. */
  admit: <Request>(parse: () => Request) => Request;
  /** Runs the handler of a signal, and keeps what it throws. */
  signalled: (work: () => unknown) => void | Promise<void>;
}

export class Listener {
  constructor(private readonly workflow: Workflow) {}

  /** @param check refuses what is well-formed, but cannot be done now; `take` must check that again */
  update<Request, Answer>(
    message: Message<Request, Answer, 'update'>,
    take: (request: Request) => Answer | Promise<Answer>,
    check?: (request: Request) => void,
  ): void {
    const { admit } = this.workflow;
    setHandler(
      defineUpdate<Answer, [unknown?]>(message.name),
      (request?) => take(checkedRequest(message, request)),
      {
        validator: (request?) => {
          const admitted = admit(() => checkedRequest(message, request));
          check?.(admitted);
        },
        description: descriptionOf(message),
      },
    );
  }

  signal<Request>(message: Message<Request, unknown, 'signal'>, take: (request: Request) => unknown): void {
    this.uncheckedSignal(message, (request) => take(checkedRequest(message, request)));
  }

  /** For a method that checks the request itself. */
  uncheckedSignal(message: Message<unknown, unknown, 'signal'>, take: (request: unknown) => unknown): void {
    const { signalled } = this.workflow;
    setHandler(defineSignal<[unknown?]>(message.name), (request?) => signalled(() => take(request)), {
      description: descriptionOf(message),
    });
  }

  query<Request, Answer>(
    message: Message<Request, Answer, 'query'>,
    answer: (request: Request | undefined) => Answer,
  ): void {
    setHandler(defineQuery<Answer, [Request?]>(message.name), answer, {
      description: descriptionOf(message),
    });
  }
}
