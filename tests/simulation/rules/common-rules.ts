// What holds of every workflow and every request.
import type { Rule } from './rule';

export const COMMON_RULES: readonly Rule[] = [
  {
    name: 'no workflow task fails, and a replay asks for what was recorded',
    broken: ({ facts }) => {
      const [failed] = facts.of('task-failed');
      return failed && `${failed.of}: ${failed.why}`;
    },
  },
  {
    name: 'each request is answered',
    broken: ({ facts }) => {
      const answered = new Set(
        [...facts.of('answered'), ...facts.of('gave-up')].map(({ request }) => request),
      );
      const open = facts.of('asked').find(({ request }) => !answered.has(request));
      return open && `${open.message} ${open.request} to ${open.of} has no answer`;
    },
  },
  {
    name: 'each error is one of the catalogue',
    broken: ({ facts }) => {
      const failed = facts.of('answered').find(({ answer }) => answer.is === 'failed');
      return failed && `${failed.request}: ${JSON.stringify(failed.answer)}`;
    },
  },
];
