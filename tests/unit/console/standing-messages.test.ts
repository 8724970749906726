// Which messages the page shows as taken back: those that the model no longer sees, and changes of files that a rewind undid.
import { takenBack } from '../../../console/files/standing-messages';
import type { Message } from '../../../contracts/agents/agent';
import { standingPlaces } from '../../../contracts/workspaces/conversation-steps';

const user: Message = { role: 'user', text: 'x' };
const step = (number: number): Message => ({
  ...{ role: 'assistant', step: number },
  parsed: { kind: 'answer', answer: 'x' },
});
const counts = { added: 1, modified: 0, deleted: 0 };
const files = (number: number): Message => ({
  ...{ role: 'checkpoint', turn: 1, step: number },
  outcome: { state: 'kept', hash: `${number}`, files: 1, bytes: 1, changes: counts },
});
const rewound = { hash: 'a', before: 'b', counts };
const rewind = (number: number, to: number, more: { keeps?: number; files?: typeof rewound }): Message => ({
  ...{ role: 'rewind', step: number, to },
  ...more,
});

/** Places 0 to 5: a task, and two steps with files and an answer. */
const TALK = [user, step(1), files(1), step(2), files(2), step(3)];

test.each<[name: string, more: Message[], back: number[]]>([
  ['nothing', [], []],
  ['both', [rewind(4, 1, { keeps: 3, files: rewound })], [3, 4, 5]],
  ['the conversation alone leaves files', [rewind(4, 1, { keeps: 3 })], [3, 5]],
  ['files alone leave the conversation', [rewind(4, 1, { files: rewound })], [4]],
  ['to the beginning', [rewind(4, 0, { keeps: 0, files: rewound })], [0, 1, 2, 3, 4, 5]],
  [
    'one that is undone',
    [rewind(4, 1, { keeps: 3, files: rewound }), rewind(5, 3, { keeps: 6, files: rewound })],
    [6],
  ],
  [
    'what was said after it stays',
    [rewind(4, 1, { keeps: 3, files: rewound }), user, step(5), files(5)],
    [3, 4, 5],
  ],
])('%s: %#', (_, more, back) => {
  expect([...takenBack([...TALK, ...more])]).toEqual(back);
});

test('what the page tells of messages agrees with what the model sees, whatever rewinds there were', () => {
  let seed = 7;
  const random = (below: number): number => (seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31) % below;
  const messages: Message[] = [];
  for (let number = 1; number <= 300; number++) {
    const keeps = random(messages.length + 1);
    messages.push(random(4) === 0 ? rewind(number, 0, { keeps }) : step(number));
    const back = takenBack(messages);
    const standing = messages.flatMap((_, place) => (back.has(place) ? [] : [place]));
    expect(standing).toEqual(standingPlaces(messages));
  }
});
