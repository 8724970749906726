import type { Message } from '../../../../contracts/agents/agent';
import {
  carriedMessages,
  summarizedMessages,
  visibleMessages,
} from '../../../../contracts/agents/visible-messages';
import {
  planRewind,
  stateAt,
  statesBetween,
  stepsOf,
} from '../../../../contracts/workspaces/conversation-steps';

const user = (text: string): Message => ({ role: 'user', text });
const answer = (step: number, text = `answer ${step}`): Message => ({
  role: 'assistant',
  step,
  parsed: { kind: 'answer', answer: text },
});
const calls = (step: number): Message => ({
  role: 'assistant',
  step,
  parsed: {
    kind: 'calls',
    calls: [{ callId: `c${step}`, tool: 'shell', args: {} }],
    headline: null,
    thoughts: [],
    prose: '',
  },
});
const result = (step: number): Message => ({
  role: 'tool',
  ...{ callId: `c${step}`, tool: 'shell', content: 'ok', isError: false },
});
const kept = (hash: string, step: number, turn = 1, before?: true): Message => ({
  role: 'checkpoint',
  ...{ turn, step },
  ...(before && { before }),
  outcome: {
    ...{ state: 'kept', hash, files: 1, bytes: 1 },
    changes: { added: 1, modified: 0, deleted: 0 },
  },
});
const notKept = (state: 'missing' | 'off', step: number, turn = 1, before?: true): Message => ({
  role: 'checkpoint',
  ...{ turn, step },
  ...(before && { before }),
  outcome: { state, reason: 'the disk is full' },
});
const rewound = (
  step: number,
  to: number,
  keeps?: number,
  files?: [before: string, hash: string],
): Message => ({
  role: 'rewind',
  ...{ step, to },
  ...(keeps !== undefined && { keeps }),
  ...(files && {
    files: { before: files[0], hash: files[1], counts: { added: 0, modified: 1, deleted: 0 } },
  }),
});

/** Two turns: the first changes files in steps 1 and 2, the second in step 4. */
const CONVERSATION: readonly Message[] = [
  user('go'),
  calls(1),
  result(1),
  kept('start', 1, 1, true),
  kept('one', 1),
  calls(2),
  result(2),
  kept('two', 2),
  answer(3),
  user('more'),
  calls(4),
  result(4),
  kept('two', 4, 2, true),
  kept('four', 4, 2),
  answer(5),
];

describe('a rewind', () => {
  test('brings back the state in which the next step began', () => {
    const plan = (to: number): string | null => planRewind(CONVERSATION, to).hash;
    expect([0, 1, 2, 3, 4, 5].map(plan)).toEqual(['start', 'one', 'two', 'two', 'four', 'four']);
  });

  test('keeps the messages up to the end of the step, and before the first step none of its turn', () => {
    const kept = (to: number): number => planRewind(CONVERSATION, to).keeps;
    expect([0, 1, 2, 3, 4, 5].map(kept)).toEqual([0, 5, 8, 9, 14, 15]);
  });

  test('knows what somebody else changed between two turns after it', () => {
    const edited = CONVERSATION.map((message) =>
      message.role === 'checkpoint' && message.step === 4 && message.before
        ? kept('edited', 4, 2, true)
        : message,
    );
    expect(planRewind(edited, 1)).toMatchObject({
      hash: 'one',
      expected: 'four',
      foreign: [['two', 'edited']],
    });
    // As the next step began: with what was changed by then.
    expect(planRewind(edited, 3)).toMatchObject({ hash: 'edited', foreign: [] });
  });

  test('of a step that is not there names those that are', () => {
    expect(() => planRewind(CONVERSATION, 9)).toThrow(/got 9, allowed 0, or 1 to 5/);
    expect(() => planRewind([user('hi')], 1)).toThrow(/it has no steps yet/);
  });

  test('of a rewind finds the state and the messages before it', () => {
    const messages = [...CONVERSATION, rewound(6, 1, 5, ['four', 'one'])];
    expect(planRewind(messages, 5)).toMatchObject({ hash: 'four', expected: 'one', keeps: 15 });
    const undone = [...messages, rewound(7, 5, 15, ['one', 'four'])];
    expect(visibleMessages(undone)).toEqual(visibleMessages(CONVERSATION));
  });
});

describe('the files of a step whose checkpoint is missing, or no longer kept, are not known, and no other step stands in for them:', () => {
  const hashes = (messages: readonly Message[], steps: number[]): (string | null)[] =>
    steps.map((to) => planRewind(messages, to).hash);
  /** Forks at the end of these steps. */
  const atEnds = (messages: readonly Message[], steps: number[]): (string | null)[] =>
    steps.map((to) => stateAt(messages, planRewind(messages, to).keeps));

  const missing = [
    ...[user('go'), kept('start', 1, 1, true), calls(1), result(1), kept('one', 1)],
    ...[calls(2), result(2), notKept('missing', 2), calls(3), result(3), kept('three', 3), answer(4)],
  ];

  test('missing in the middle of a turn', () => {
    expect(hashes(missing, [0, 1, 2, 3, 4])).toEqual(['start', 'one', null, 'three', 'three']);
    expect(atEnds(missing, [1, 2, 3])).toEqual(['one', null, 'three']);
    // What people can be told to have changed is compared with the last state that is known.
    expect(planRewind(missing, 1)).toMatchObject({ expected: 'three', foreign: [] });
  });

  test('missing at the end of a turn, before another one', () => {
    const last = [
      ...[...missing.slice(0, 8), answer(3), user('more')],
      ...[kept('found', 4, 2, true), calls(4), result(4), kept('four', 4, 2)],
    ];
    expect(hashes(last.slice(0, 9), [1, 2, 3])).toEqual(['one', null, null]);
    expect(hashes(last, [0, 1, 2, 3, 4])).toEqual(['start', 'one', 'found', 'found', 'four']);
    // It is not known whether the step or a person changed them: a rewind asks before it goes over these.
    expect(planRewind(last, 1).foreign).toEqual([['one', 'found']]);
  });

  test('only the one before a step is missing: the end of the step before it is known', () => {
    const messages = [
      ...[...missing.slice(0, 5), answer(2), user('more'), notKept('missing', 3, 2, true)],
      ...[calls(3), result(3), kept('three', 3, 2)],
    ];
    expect(hashes(messages, [1, 2, 3])).toEqual(['one', 'one', 'three']);
  });

  test('off for the rest of a turn', () => {
    const messages = [
      ...[...missing.slice(0, 5), calls(2), result(2), notKept('off', 2), calls(3), result(3), answer(4)],
      ...[user('look'), calls(5), result(5), kept('found', 6, 2, true), calls(6), result(6)],
      ...[kept('six', 6, 2), answer(7), user('more'), notKept('off', 8, 3, true), calls(8), result(8)],
    ];
    const known = ['start', 'one', null, 'found', 'found', 'found', 'six', 'six', null];
    expect(hashes(messages, [0, 1, 2, 3, 4, 5, 6, 7, 8])).toEqual(known);
  });

  /** Each turn changes files in one step and answers in the next: two checkpoints each. */
  const turns = (count: number, stepsBefore = 0): Message[] =>
    Array.from({ length: count }, (_, index): Message[] => {
      const step = stepsBefore + 2 * index + 1;
      const before = kept(`before-${step}`, step, index + 1, true);
      const after = kept(`after-${step}`, step, index + 1);
      return [user('go'), before, calls(step), result(step), after, answer(step + 1)];
    }).flat();

  test('no longer kept since the conversation continued as new', () => {
    const carried = carriedMessages(turns(160));
    expect(hashes(carried, [0, 1, 2, 18])).toEqual([null, null, null, null]);
    expect(hashes(carried, [19, 20, 21, 22])).toEqual(['before-21', 'before-21', 'before-23', 'before-23']);
    expect(atEnds(carried, [2, 18, 20])).toEqual([null, null, 'before-21']);
    expect(statesBetween(carried, { step: 21 })).toEqual({ from: 'before-21', to: 'after-21' });
    expect(carriedMessages(carried)).toEqual(carried);
  });

  test('no longer kept, and the first that is kept is of a rewind', () => {
    const rewind = rewound(3, 0, undefined, ['changed', 'before-1']);
    const carried = carriedMessages([...turns(1), rewind, ...turns(150, 3)]);
    expect(carried.find(({ role }) => role === 'checkpoint' || role === 'rewind')).toEqual(rewind);
    expect(hashes(carried, [0, 1, 2, 3, 4])).toEqual([null, null, 'changed', 'before-4', 'before-6']);
  });
});

describe('the model', () => {
  test('sees no checkpoint, and nothing that was taken back', () => {
    const messages = [...CONVERSATION, rewound(6, 1, 5, ['four', 'one']), user('other way')];
    expect(visibleMessages(messages)).toEqual([user('go'), calls(1), result(1), user('other way')]);
  });

  test('is told that files changed under a conversation that goes on', () => {
    const messages = [...CONVERSATION, rewound(6, 1, undefined, ['four', 'one'])];
    const last = visibleMessages(messages).at(-1);
    expect(last).toEqual({
      role: 'user',
      text: '[The files of the workspace were brought back to what they were after step 1: 1 modified.]',
    });
  });

  test('sees the summary of what a rewind keeps, whichever came first', () => {
    const summary: Message = { role: 'summary', text: 'so far', covers: 9 };
    const summed = [...CONVERSATION.slice(0, 9), summary, ...CONVERSATION.slice(9)];
    const back = [...summed, rewound(6, 4, 15)];
    expect(visibleMessages(back).map(({ role }) => role)).toEqual(['summary', 'user', 'assistant', 'tool']);
    const before = [...summed, rewound(6, 1, 5)];
    expect(visibleMessages(before)).toEqual([user('go'), calls(1), result(1)]);
  });
});

describe('a conversation that continues as new', () => {
  test('keeps checkpoints, and what the model sees stays the same', () => {
    const messages = [...CONVERSATION, rewound(6, 4, 14, ['four', 'four']), user('again')];
    const carried = carriedMessages(messages);
    expect(visibleMessages(carried)).toEqual(visibleMessages(messages));
    expect(statesBetween(carried, { from: 0, to: 4 })).toEqual({ from: 'start', to: 'four' });
    expect(carriedMessages(carried)).toEqual(carried);
  });

  test('with a summary shows the model the context files, the summary and what follows, whatever was rewound before', () => {
    const context: Message = { role: 'context', text: 'files' };
    const back = [...CONVERSATION, rewound(6, 4, 14, ['four', 'four']), user('again'), rewound(7, 3, 9)];
    const summed = summarizedMessages(
      [context, ...back, rewound(8, 1, undefined, ['four', 'one'])],
      'so far',
    );
    const summary: Message = { role: 'summary', text: 'so far', covers: summed.length - 1 };
    expect(visibleMessages([...summed, user('next')])).toEqual([context, summary, user('next')]);
    expect(carriedMessages(summed)).toEqual(summed);
    expect(stepsOf(summed).map(({ step, isRewound }) => [step, isRewound])).toEqual([
      [6, false],
      [7, false],
      [8, false],
    ]);
    expect(statesBetween(summed, { from: 0, to: 4 })).toEqual({ from: 'start', to: 'four' });
  });

  test('keeps the last 300 checkpoints', () => {
    const many = Array.from({ length: 400 }, (_, step) => [
      calls(step + 1),
      kept(`h${step}`, step + 1),
    ]).flat();
    const carried = carriedMessages(many).filter(({ role }) => role === 'checkpoint');
    expect(carried).toHaveLength(300);
    expect(carried.at(-1)).toEqual(kept('h399', 400));
  });
});

describe('the changes', () => {
  test.each([
    ['of one step', { from: 0, to: 1 }, 'start', 'one'],
    ['of the next', { from: 1, to: 2 }, 'one', 'two'],
    ['since a step', { from: 2 }, 'two', 'four'],
    ['of a turn', { turn: 1 }, 'start', 'two'],
    ['of the other turn', { turn: 2 }, 'two', 'four'],
    ['of all', {}, 'start', 'four'],
  ])('%s are those between two known states', (_, asked, from, to) => {
    expect(statesBetween(CONVERSATION, asked)).toEqual({ from, to });
  });

  test('of a step without a checkpoint are refused with those that have one', () => {
    expect(() => statesBetween(CONVERSATION, { from: 4, to: 5 })).toThrow(
      /got from 4, to 5, allowed steps with checkpoints: 1, 2, 4/,
    );
  });
});

test('a list of steps says what each did, and what was taken back', () => {
  const messages = [...CONVERSATION, rewound(6, 1, 5, ['four', 'one'])];
  const seen = stepsOf(messages).map(({ step, kind, turn, isRewound }) => [step, kind, turn, isRewound]);
  expect(seen).toEqual([
    [1, 'calls', 1, false],
    [2, 'calls', 1, true],
    [3, 'answer', null, true],
    [4, 'calls', 2, true],
    [5, 'answer', null, true],
    [6, 'rewind', null, false],
  ]);
});
