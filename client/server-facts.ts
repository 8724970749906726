// What a client knows of its server, and how patient it is with it.
import type { HoldfastError } from '../contracts/errors/holdfast-error';

/** How long a request is repeated by default. */
export const PATIENCE_MS = 60_000;

/** The server that a client talks to, and the workers there. */
export interface ServerFacts {
  address: string;
  /** Task queue for agents that are started. */
  queue: string;
  /** For clients that can see the worker's process: the catalogue's error if it does not answer, or cannot be restarted. */
  findSilentWorker?: (() => HoldfastError | undefined) | undefined;
  /** This process restarts the queue's worker when it dies. If it cannot, its user or `findSilentWorker` learns why. */
  keepsWorker?: boolean | undefined;
  /** How long a request is repeated while the server is away. Default `PATIENCE_MS`. */
  patienceMs?: number | undefined;
  /** Called once for each message that waits longer than usual, with what it waits for. */
  onDelay?: ((what: string) => void) | undefined;
}
