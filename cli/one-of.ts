// Words of which a command line takes some and no others.
import { HoldfastError } from '../contracts/errors';

/** Reads one of `values`; what it reads throws `invalid_input` for any other, with `what` it was for. */
export const oneOf =
  <const Value extends string>(what: string, values: readonly Value[]) =>
  (text: string): Value => {
    const found = values.find((value) => value === text);
    if (found !== undefined) return found;
    throw new HoldfastError('invalid_input', { what, got: text, allowed: values.join(', ') });
  };
