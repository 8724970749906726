// What has happened in a world, in its order: what rules judge by.
import type { HoldfastError } from '../../../contracts/errors/holdfast-error';

export type Answer =
  | { is: 'done'; value: unknown }
  | { is: 'refused'; error: HoldfastError }
  /** With an error that is not of the catalogue. */
  | { is: 'failed'; message: string }
  /** It is not running, and was never started for this. */
  | { is: 'no-workflow' };

export type Fact =
  /** A client sent a request for the first time. */
  /** Not `isNew`: as an update that was sent before, so that its answer may be an old one. */
  | { is: 'asked'; isNew: boolean; request: string; message: string; of: string; content: unknown }
  /** A client gave up waiting. */
  | { is: 'gave-up'; request: string }
  /** A workflow accepted an update; `id` is that of its content. */
  | { is: 'accepted'; id: string; of: string }
  /** The server took a signal for a running workflow. */
  | { is: 'signalled'; of: string; name: string; id: string; content: object }
  | { is: 'answered'; request: string; answer: Answer }
  /** A command was handed to its shell. */
  | { is: 'begun'; command: string; of: string; code: string; cleared: string | undefined }
  | { is: 'ended'; command: string; of: string; exitCode: number | null; by: string | null }
  | { is: 'typed'; input: string; of: string }
  | { is: 'reset'; of: string; id: string }
  | { is: 'closed'; of: string }
  /** A question was shown to a person, as the workflow showed it. */
  | { is: 'shown'; question: string; hash: string; of: string }
  | {
      is: 'decided';
      request: string;
      question: string;
      approved: boolean;
      hash: string;
      of: string;
      lasting: boolean;
    }
  /** A tool of the model or of a script did what it does. */
  | { is: 'effect'; key: string; of: string; isHeld: boolean; question: string }
  /** A script's call was sent to its session, perhaps again. */
  | { is: 'called'; call: string; of: string; command: string }
  /** A script has the outcome of a call: `ok`, or the code of an error. */
  | { is: 'call-answered'; call: string; of: string; code: string }
  /** Something has happened that a webhook is for, and its receiver has heard of it. */
  | { is: 'event'; id: string }
  | { is: 'delivered'; id: string }
  /** The files of an agent were brought back, for the request with this key. */
  | { is: 'rewound'; of: string; key: string; hash: string }
  | { is: 'model-called'; key: string; of: string; message: string }
  /** Somebody who may do that ended a workflow at once. */
  | { is: 'terminated'; of: string }
  /** A workflow failed a task. */
  | { is: 'task-failed'; of: string; why: string };

export type FactOf<Is extends Fact['is']> = Extract<Fact, { is: Is }>;

export class Facts {
  readonly all: Fact[] = [];

  /** @param told is called with each, for the story */
  constructor(private readonly told: (fact: Fact) => void = () => undefined) {}

  add(fact: Fact): void {
    this.all.push(fact);
    this.told(fact);
  }

  of<Is extends Fact['is']>(is: Is): FactOf<Is>[] {
    return this.all.filter((fact): fact is FactOf<Is> => fact.is === is);
  }

  /** The place of a fact in the order of all. */
  placeOf(fact: Fact): number {
    return this.all.indexOf(fact);
  }
}
