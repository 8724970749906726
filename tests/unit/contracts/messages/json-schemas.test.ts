// docs/schemas is made of contracts/schemas and contracts/messages:
// `UPDATE_DOCS=1 npx jest tests/unit/contracts/messages/json-schemas` writes it anew.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020';
import * as answers from '../../../../contracts/schemas/answers';
import {
  AGENT,
  ANSWERS,
  HOST,
  QUESTION,
  RESULT,
  SESSION,
  VIEW,
} from '../../../helpers/hostile/hostile-answers';
import { jsonSchemaOf, SCHEMAS } from '../../../helpers/docs/schemas';

const FOLDER = join(__dirname, '..', '..', '..', '..', 'docs', 'schemas');
/** A question without its workflow. */
const approval = Object.fromEntries(Object.entries(QUESTION).filter(([name]) => name !== 'workflowId'));

if (process.env.UPDATE_DOCS) {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
}

test.each(Object.entries(SCHEMAS))('docs/schemas/%s.json says what its schema says', (name, described) => {
  const file = join(FOLDER, `${name}.json`);
  const text = `${JSON.stringify(jsonSchemaOf(described), null, 2)}\n`;
  if (process.env.UPDATE_DOCS) writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
  expect(() => new Ajv2020({ strict: false }).compile(JSON.parse(text) as object)).not.toThrow();
});

/** With every field that their types have. */
test.each([
  ['agent.state.answer', AGENT],
  ['agent.result', RESULT],
  ['turn.state.answer', ANSWERS['turn state']],
  ['agent.transcript.answer', ANSWERS['agent transcript']],
  ['execSession.state.answer', { ...SESSION, approvals: [approval] }],
  ['execSession.view.answer', VIEW],
  ['execSession.wait.answer', ANSWERS['execSession wait']],
  ['approvals.answer', approval],
  ['host.state.answer', HOST],
])('every field of %s is in its schema', (name, sample) => {
  const described = SCHEMAS[name];
  if (!described) throw new Error(`no schema ${name}`);
  const check = new Ajv2020({ strict: false }).compile(jsonSchemaOf(described, false));
  expect([check(sample), check.errors]).toEqual([true, null]);
});

test('the schema of each answer is compared with its type', () => {
  const others = Object.keys(answers).filter((name) => !Object.hasOwn(answers.AS_TYPED, name));
  // Made of those that are; `hostState` is its type.
  expect(others.sort()).toEqual(['AS_TYPED', 'approvalList', 'hostState', 'lastView', 'spawned']);
});

test('there is no schema of anything else', () => {
  expect(readdirSync(FOLDER).sort()).toEqual(
    Object.keys(SCHEMAS)
      .map((name) => `${name}.json`)
      .sort(),
  );
});
