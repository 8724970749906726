import type { DialectName } from '../../../../contracts/models/dialect-names';
import { HoldfastError } from '../../../../contracts/errors/holdfast-error';
import { createDialects } from '../../../../models/dialects/dialects';

test.each(['json', 'toString', ''])('a dialect that does not exist is refused: %j', (name) => {
  const facts = { what: "The model's dialect", got: name, allowed: 'agent-json, tagged, native' };
  expect(() => createDialects()(name as DialectName)).toThrow(new HoldfastError('invalid_input', facts));
});
