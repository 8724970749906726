// Counts failed log-ins by address: guessing 256 random bits is hopeless, but it must not cost us anything either.
import { HoldfastError } from '../../contracts/errors/holdfast-error';

const ALLOWED = 10;
const WINDOW_MS = 60_000;
const MAX_ADDRESSES = 10_000;

export class FailedLogins {
  private readonly failures = new Map<string, { count: number; since: number }>();

  /** Throws `too_many_requests`. */
  check(address: string): void {
    const known = this.failures.get(address);
    if (!known) return;
    const left = known.since + WINDOW_MS - Date.now();
    if (left <= 0) this.failures.delete(address);
    else if (known.count >= ALLOWED)
      throw new HoldfastError('too_many_requests', {
        what: 'A failed log-in',
        allowed: `${ALLOWED} a minute`,
        seconds: Math.ceil(left / 1_000),
      });
  }

  add(address: string): void {
    const known = this.failures.get(address);
    if (known) known.count += 1;
    else {
      // The oldest entry goes first: a Map keeps the order of insertion.
      const [oldest] = this.failures.keys();
      if (this.failures.size >= MAX_ADDRESSES && oldest !== undefined) this.failures.delete(oldest);
      this.failures.set(address, { count: 1, since: Date.now() });
    }
  }
}
