// The secrets used in a session: only in its holder's memory, for as long as the holder lives.
import { HoldfastError } from '../../contracts/errors/holdfast-error';
import { fillSecrets } from '../../contracts/tools/secrets';
import type { Verbs } from '../protocol';
import { SecretMask } from './secret-mask';

export class SessionSecrets {
  readonly mask = new SecretMask();
  private readonly values = new Map<string, string>();

  /** Every value ever used stays masked. */
  add({ values }: Verbs['secrets']['request']): Verbs['secrets']['answer'] {
    for (const [name, value] of Object.entries(values)) {
      this.values.set(name, value);
      this.mask.add(name, value);
    }
    return { taken: true };
  }

  /** Throws `secret_unknown` for a name that the host has not sent. */
  fill(text: string): string {
    return fillSecrets(text, (name) => {
      const value = this.values.get(name);
      if (value === undefined) throw new HoldfastError('secret_unknown', { got: name, allowed: 'none' });
      return value;
    });
  }
}
