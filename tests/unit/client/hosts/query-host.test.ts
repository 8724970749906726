// What is accepted of the answers of a host's workflows, which may be of another release.
import { HOST_MESSAGES } from '../../../../contracts/messages/to-hosts';
import { APPROVAL_MESSAGES } from '../../../../contracts/messages/to-askers';
import { SESSION_MESSAGES } from '../../../../contracts/messages/to-sessions';
import { parseAnswer } from '../../../../client/hosts/query-host';
import { HOST, QUESTION, SESSION } from '../../../helpers/hostile/hostile-answers';

test.each([
  ['a session', SESSION_MESSAGES.state, SESSION],
  ['an approval', APPROVAL_MESSAGES.approvals, [QUESTION]],
  ['a host', HOST_MESSAGES.state, HOST],
])('%s of a newer release keeps the keys that this one does not know', (_what, message, answer) => {
  const newer = Array.isArray(answer) ? answer.map((one) => ({ ...one, later: 1 })) : { ...answer, later: 1 };
  expect(parseAnswer(message, 'w', newer)).toEqual(newer);
});

test('words that a newer release has added are accepted, other types are not', () => {
  const newer = { ...SESSION, status: 'frozen', view: { ...SESSION.view, treeKill: 'job' } };
  expect(parseAnswer(SESSION_MESSAGES.state, 'w', newer)).toEqual(newer);
  expect(() => parseAnswer(SESSION_MESSAGES.state, 'w', { ...SESSION, status: 5 })).toThrow(
    /answer of w .*at \/status/,
  );
});

test.each([null, undefined, 5, {}, [{}], [{ ...QUESTION, reasons: [{ rule: {}, found: '' }] }]])(
  'an answer that is no list of approvals is refused: %j',
  (answer) => {
    expect(() => parseAnswer(APPROVAL_MESSAGES.approvals, 'exec/a/b/0', answer)).toThrow(
      expect.objectContaining({ code: 'answer_invalid' }) as Error,
    );
  },
);
