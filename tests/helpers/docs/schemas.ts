// The files of docs/schemas: what each is about, and the schema that it is made of. Those of messages come from their tables.
import { isPublic, type AnyMessage } from '../../../contracts/messages/message';
import { agentInputSchema } from '../../../contracts/schemas/agent';
import * as answers from '../../../contracts/schemas/answers';
import * as requests from '../../../contracts/schemas/requests';
import { sessionInputSchema, waitSchema } from '../../../contracts/schemas/session';
import { z } from '../../../contracts/schemas/zod';
import { kindsOf, MESSAGE_TABLES } from './message-tables';

interface Described {
  title: string;
  schema: z.core.$ZodType;
}

const of = (title: string, schema: z.core.$ZodType): Described => ({ title, schema });

/** Answers that are not named after the message that has them. */
const NAMED = new Map<string | undefined, string>([
  ['agentResult', 'agent.result'],
  ['commandView', 'execSession.view.answer'],
  ['approval', 'approvals.answer'],
]);

const all = MESSAGE_TABLES.flatMap((table) =>
  Object.values(table.messages)
    .filter(isPublic)
    .map((message) => ({ table, message })),
);
type Use = (typeof all)[number];

/** The schemas that `nameOf` finds, each with the messages that use it. */
function usesOf(nameOf: (message: AnyMessage) => string | undefined): Map<string, [Use, ...Use[]]> {
  const uses = new Map<string, [Use, ...Use[]]>();
  for (const use of all) {
    const name = nameOf(use.message);
    const known = name === undefined ? undefined : uses.get(name);
    if (known) known.push(use);
    else if (name !== undefined) uses.set(name, [use]);
  }
  return uses;
}

/** `query state, updates interrupt and recover of an agent`. */
function told(uses: Use[], ofAnswer = false): string {
  const byReceiver = groups(uses, ({ table }) => table.to).map(([to, ofOne]): [string, string] => {
    const byKind = groups(ofOne, ({ message }) =>
      kindsOf(message)
        .filter((kind) => !ofAnswer || kind !== 'signal')
        .join(' or '),
    );
    return [to, byKind.map(([kind, some]) => namesOf(kind, some)).join(', ')];
  });
  return groups(byReceiver, ([, names]) => names)
    .map(([names, receivers]) => `${names} of ${receivers.map(([to]) => to).join(' or ')}`)
    .join('; ');
}

const namesOf = (kind: string, uses: Use[]): string => {
  const names = uses.map(({ message }) => message.name);
  return `${kind}${names.length > 1 ? 's' : ''} ${names.join(', ').replace(/, ([^,]+)$/, ' and $1')}`;
};

function groups<T>(items: T[], by: (item: T) => string): [string, T[]][] {
  const found = new Map<string, T[]>();
  for (const item of items) found.set(by(item), [...(found.get(by(item)) ?? []), item]);
  return [...found];
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function schemasOfMessages(): [string, Described][] {
  const ofRequests = [...usesOf(({ request }) => request?.schema)].map(
    ([name, uses]): [string, Described] => {
      const [{ table, message }] = uses;
      const schema = requests[name as keyof typeof requests] as z.core.$ZodType;
      return [`${table.prefix}.${message.name}`, of(capitalised(told(uses)), schema)];
    },
  );
  const ofAnswers = [...usesOf(({ answer }) => answer)].map(([name, uses]): [string, Described] => {
    // A query is named after what it asks for.
    const { table, message } = uses.find((use) => 'query' in use.message.kinds) ?? uses[0];
    const file = NAMED.get(name) ?? `${table.prefix}.${message.name}.answer`;
    const schema = answers[name as keyof typeof answers] as z.core.$ZodType;
    const result = file === 'agent.result' ? 'Result of the workflow agent, and answer' : 'Answer';
    return [file, of(`${result} of the ${told(uses, true)}`, schema)];
  });
  return [...ofRequests, ...ofAnswers];
}

/** By file name without `.json`: `WORKFLOW.MESSAGE`, and `.answer` for what comes back. */
export const SCHEMAS: Readonly<Record<string, Described>> = {
  error: of('An error, with --json and from the client', answers.errorAnswer),
  'agent.start': of('Input of the workflow agent', agentInputSchema),
  'turn.result': of('Result of the workflow turn', answers.turnResult),
  'execSession.start': of('Input of the workflow execSession', sessionInputSchema),
  ...Object.fromEntries(schemasOfMessages()),
};

/**
 * JSON Schema 2020-12. Answers allow further keys: a later release may add some. What only code can check, such as the
 * size of a text, is left out.
 */
export function jsonSchemaOf({ title, schema }: Described, allowsMore = true): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    // Only the shape of what is sent allows unknown keys where its schema does.
    io: allowsMore ? 'input' : 'output',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === waitSchema)
        Object.assign(jsonSchema, { type: 'string', pattern: '^(exit|output|idle|needs_input|pattern:.+)$' });
    },
  });
  return { $schema, title, ...rest };
}
