// docs/errors.md is made of the catalogue: `UPDATE_DOCS=1 npx jest tests/unit/contracts/errors/errors-page` writes it anew.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CODES, HoldfastError, type ErrorCode } from '../../../../contracts/errors/holdfast-error';
import { ERROR_FACTS } from '../../../helpers/docs/error-facts';

const PAGE = join(__dirname, '..', '..', '..', '..', 'docs', 'errors.md');

const EFFECTS = {
  none: 'has not begun, and will not',
  possible: 'may have begun, or may still',
  happened: 'is done',
};

const HEAD = `# Errors

Every error has a code, facts, a message that ends with the next step, and says two things that a program decides by:

- **retryable**: whether the same request may succeed later without a change by the caller. Send it with the same id.
- **effect**: whether what was requested may have taken effect. \`none\`: it ${EFFECTS.none}. \`possible\`: it
  ${EFFECTS.possible}; look before you send it again under another id. \`happened\`: it ${EFFECTS.happened}.

They reach programs as \`{ code, message, next, retryable, effect, facts, docs }\`: on stderr with \`--json\`, as \`HoldfastError\` from
the client, and as an ApplicationFailure through other SDKs and over HTTP: its type is the code, its first detail the facts,
its second \`{ docs }\`. \`docs\` names the entry on this page, which is part of the package: \`docs/errors.md#no_worker\`. The
command line exits with the exit code below, which no program of a session is mistaken for (sysexits).

The messages below have example facts.
`;

function entryOf(code: ErrorCode): string {
  const facts = ERROR_FACTS[code];
  const { message, next, retryable, effect, exitCode } = HoldfastError.received(code, facts);
  const said = message.slice(0, message.length - next.length - ' Next: '.length);
  const named = Object.keys(facts).map((name) => `\`${name}\``);
  const decides = `Retryable: ${retryable ? 'yes' : 'no'}. Effect: \`${effect}\`. Exit code: ${exitCode}.`;
  const quoted = `\`\`\`text\n${said}\n\`\`\``;
  const last = `${decides} Facts: ${named.join(', ') || 'none'}.\n`;
  return [`## ${code}`, quoted, `**Next:** ${next}`, last].join('\n\n');
}

test('docs/errors.md has each code with its message, next step, effect, exit code and facts', () => {
  const page = [HEAD, ...[...ERROR_CODES].sort().map(entryOf)].join('\n');
  if (process.env.UPDATE_DOCS) writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, 'utf8')).toBe(page);
});
