// Requests with one fault each, made from the table of routes: a new route is asked without a word in any test.
import type { Route } from '../../../gateway/http/route';
import { z } from '../../../contracts/schemas/zod';

export interface FaultyRequest {
  what: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
  /** What the answer may be. */
  statuses: readonly number[];
}

const TOKEN = 'Authorization';
const NO_TOKENS: readonly (readonly [what: string, value: string | undefined])[] = [
  ['without a token', undefined],
  ['with an empty token', 'Bearer '],
  ['with a token in another scheme', 'Basic YTpi'],
  ['with a token that nobody was given', `Bearer hf_${'x'.repeat(43)}`],
  ['with two tokens', 'Bearer a, Bearer b'],
  ['with a token of 6,000 characters', `Bearer ${'x'.repeat(6_000)}`],
  ['with a path as its token', 'Bearer ../../gateway/tokens.json'],
];

const ELSEWHERE: readonly (readonly [what: string, headers: Record<string, string>])[] = [
  ['to another host', { Host: 'evil.example' }],
  ['from another origin', { Origin: 'https://evil.example' }],
  ['from no origin', { Origin: 'null' }],
  ['from another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' }],
];

/** As they stand in a path. */
const BAD_PARTS = ['ABC', '%2e%2e%2fx', '%20', 'a%00b', '%F0%9F%92%A9', 'x'.repeat(300), '%zz', '__proto__'];
const BAD_QUERIES = [
  'nope=1',
  'limit=ten',
  'a[b]=1',
  '1',
  '__proto__=1',
  'constructor=x',
  '%zz=1',
  'a%00=1',
  '&x',
];
const BAD_BODIES = ['{', '[]', '7', '"text"', '{"nope":1}', '['.repeat(20_000), '\u0000'];
const BAD_KEYS = ['with a space', 'x'.repeat(5_000), '""'];
const WRONG: readonly unknown[] = [null, {}, [], -1.5, true, '\u0000', 'x'.repeat(6_000)];
/** No number, boolean or name. */
const WRONG_TEXTS: readonly unknown[] = ['n/o', '\u0000', '\u202e', 'x'.repeat(6_000)];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A part of a path that names nothing: where only the rest is faulty, the answer may say so. */
const NOTHING: Record<string, string> = { session: '7' };
const NOT_FOUND = [400, 404];

/** @param knownMethods of the route's path */
export function faultyRequests(
  route: Route,
  token: string,
  knownMethods: readonly string[],
): FaultyRequest[] {
  const { method, path: template, query, body, example, takesKey, name } = route;
  const parts = [...template.matchAll(/\{(\w+)\}/g)].map(([, part = '']) => part);
  const fill = (bad: Record<string, string> = {}): string =>
    template.replaceAll(/\{(\w+)\}/g, (_, part: string) => bad[part] ?? NOTHING[part] ?? 'nobody');
  const valid = example === undefined ? undefined : JSON.stringify(example);
  const base = {
    ...{ method, path: fill(), statuses: NOT_FOUND },
    headers: { [TOKEN]: `Bearer ${token}`, 'Content-Type': 'application/json' } as Record<string, string>,
    ...(method === 'POST' && { body: valid ?? '{}' }),
  };
  const make = (what: string, change: Partial<FaultyRequest>): FaultyRequest => ({
    ...base,
    ...change,
    what: `${name} ${what}`,
  });
  return [
    ...NO_TOKENS.map(([what, value]) =>
      make(what, {
        headers: { 'Content-Type': 'application/json', ...(value !== undefined && { [TOKEN]: value }) },
        statuses: [401],
      }),
    ),
    ...ELSEWHERE.map(([what, headers]) =>
      make(what, { headers: { ...base.headers, ...headers }, statuses: [400, 403] }),
    ),
    ...METHODS.filter((one) => !knownMethods.includes(one)).map((one) =>
      make(`by ${one}`, { method: one, statuses: [405] }),
    ),
    ...parts.flatMap((part) =>
      BAD_PARTS.map((bad) => make(`with ${part} ${bad.slice(0, 20)}`, { path: fill({ [part]: bad }) })),
    ),
    ...BAD_QUERIES.map((bad) => make(`with the query ${bad}`, { path: `${fill()}?${bad}` })),
    ...wrongValues(query, {}, WRONG_TEXTS).map(([what, given]) =>
      make(`with the query ${what}`, {
        path: `${fill()}?${new URLSearchParams(given as Record<string, string>).toString()}`,
      }),
    ),
    ...(method === 'POST' ? BAD_BODIES : []).map((bad) =>
      make(`with the body ${bad.slice(0, 12)}`, { body: bad }),
    ),
    ...(method === 'POST' && valid !== undefined
      ? [
          make('with a body that is told to be text', {
            headers: { ...base.headers, 'Content-Type': 'text/plain' },
          }),
        ]
      : []),
    ...wrongValues(body, example ?? {}).map(([what, given]) =>
      make(`with ${what}`, { body: JSON.stringify(given) }),
    ),
    ...(takesKey ? BAD_KEYS : []).map((bad) =>
      make(`with the key ${bad.slice(0, 12)}`, { headers: { ...base.headers, 'Idempotency-Key': bad } }),
    ),
  ];
}

/** The value with one field changed, wherever the schema refuses that. */
function wrongValues(
  schema: Route['body'],
  value: unknown,
  wrongs = WRONG,
): [what: string, given: unknown][] {
  if (schema?._zod.def.type !== 'object') return [];
  const { shape } = (schema as unknown as z.core.$ZodObject)._zod.def;
  return Object.keys(shape).flatMap((key) =>
    wrongs
      .map((wrong): [string, unknown] => [
        `${key}: ${JSON.stringify(wrong).slice(0, 12)}`,
        { ...(value as object), [key]: wrong },
      ])
      .filter(([, given]) => !z.safeParse(schema, given).success),
  );
}
