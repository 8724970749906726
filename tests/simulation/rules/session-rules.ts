// What holds of sessions and their commands.
import type { ExecRequest } from '../../../contracts/schemas/session';
import type { CommandView, SessionState } from '../../../contracts/sessions/session';
import type { FactOf, Facts } from '../world/facts';
import { answersTo, firstOf, hasEnded, type Answered, type Rule } from './rule';

/** With the facts about one command. */
const begunIn = (facts: Facts, of: string, command: string): FactOf<'begun'>[] =>
  facts.of('begun').filter((one) => one.of === of && one.command === command);

const answeredExecs = (facts: Facts): (Answered<ExecRequest> & { command: string })[] =>
  answersTo<ExecRequest>(facts, 'exec').map((one) => ({ ...one, command: one.request.id ?? '' }));

export const SESSION_RULES: readonly Rule[] = [
  {
    name: 'no command begins twice',
    broken: ({ facts }) => {
      const begun = facts.of('begun');
      const again = begun.find((one, at) => begun.findIndex((other) => isSame(one, other)) < at);
      return again && `${again.command} began twice in ${again.of}`;
    },
  },
  {
    name: 'what was reported as done was done',
    broken: ({ facts }) =>
      firstOf(answeredExecs(facts), ({ of, command, answered: { answer } }) => {
        const view = answer.is === 'done' ? (answer.value as CommandView) : undefined;
        const ran = view?.commandId ?? command;
        // Until what it imports is installed, its view is that of the installation.
        const isInstalling = view?.state !== 'exited' && ran.startsWith(`${command}/install/`);
        if (view && !isOrAgain(ran, command) && !isInstalling)
          return `${command} was answered with ${view.commandId}`;
        if (view?.state !== 'exited') return undefined;
        const ended = facts.of('ended').find((one) => one.of === of && one.command === ran);
        if (ended?.exitCode === view.exitCode) return undefined;
        return `${command} was reported as ended with ${view.exitCode}; it ended with ${ended?.exitCode ?? 'nothing'}`;
      }),
  },
  {
    name: 'what was reported as not begun never begins',
    broken: (world) => {
      const { facts } = world;
      return firstOf(answeredExecs(facts), ({ of, command, answered }) => {
        const { answer } = answered;
        if (answer.is !== 'refused' || answer.error.effect !== 'none') return undefined;
        const others = facts
          .of('asked')
          .filter(({ message, content }) => message === 'exec' && (content as ExecRequest).id === command);
        // Whoever asks for it once more may get it.
        const isAskedOnce = others.length === 1;
        const begun = begunIn(facts, of, command)[0];
        return begun && isAskedOnce && !hasEnded(world, of)
          ? `${command} began, and was refused as ${answer.error.code}`
          : undefined;
      });
    },
  },
  {
    name: 'the same command id gives the same result',
    broken: (world) => {
      const { facts } = world;
      const all = answeredExecs(facts);
      return firstOf(all, ({ of, command, asked, answered }) => {
        const { answer } = answered;
        // A host that is away says nothing of what was done.
        if (answer.is !== 'refused' || answer.error.effect !== 'none' || hasEnded(world, of))
          return undefined;
        // An update that was refused before stays so.
        if (!asked.isNew) return undefined;
        const wasDone = all.some(
          (one) =>
            one.of === of &&
            one.command === command &&
            one.answered.answer.is === 'done' &&
            facts.placeOf(one.answered) < facts.placeOf(asked),
        );
        return wasDone ? `${command} was done, and then refused as ${answer.error.code}` : undefined;
      });
    },
  },
  {
    name: 'nothing of a command begins after its reset or close',
    broken: ({ facts }) => {
      const accepted = facts.of('accepted');
      return firstOf(facts.of('begun'), (begun) => {
        const at = facts.placeOf(begun);
        const own = accepted
          .filter((one) => one.of === begun.of && one.id === begun.command && facts.placeOf(one) < at)
          .at(-1);
        if (!own) return undefined;
        const isBetween = (place: number): boolean => place > facts.placeOf(own) && place < at;
        const closed = facts.of('closed').find((one) => one.of === begun.of && isBetween(facts.placeOf(one)));
        if (closed) return `${begun.command} began in ${begun.of} after its close`;
        const reset = facts.of('reset').find((one) => {
          const asked = accepted.find(({ of, id }) => of === one.of && id === one.id);
          if (one.of !== begun.of || !asked) return false;
          return isBetween(facts.placeOf(one)) && isBetween(facts.placeOf(asked));
        });
        return reset && `${begun.command} began in ${begun.of} after the reset ${reset.id}`;
      });
    },
  },
  {
    name: 'what needs an approval begins with one for what was shown',
    broken: ({ facts }) =>
      firstOf(facts.of('begun'), (begun) => {
        if (!begun.code.includes('risky')) return undefined;
        const at = facts.placeOf(begun);
        const decided = facts.of('decided').filter((one) => facts.placeOf(one) < at && one.of === begun.of);
        const isApproved = decided.some(
          ({ question, approved, hash, lasting }) =>
            approved && ((isOrAgain(begun.command, question) && hash === `hash of ${begun.code}`) || lasting),
        );
        return isApproved ? undefined : `${begun.command} began in ${begun.of} without an approval`;
      }),
  },
  {
    name: 'what was approved is not refused for want of an approval',
    broken: (world) => {
      const { facts } = world;
      return firstOf(answeredExecs(facts), ({ of, command, asked, answered }) => {
        const { answer } = answered;
        if (answer.is !== 'refused' || answer.error.code !== 'approval_expired') return undefined;
        // Asked for again, it may be another question.
        const isAgain = answeredExecs(facts).some(
          (one) => one.answered !== answered && one.command === command,
        );
        const isOver = [...facts.of('reset'), ...facts.of('closed')].some((one) => one.of === of);
        if (isAgain || isOver || hasEnded(world, of)) return undefined;
        const { code } = asked.content as ExecRequest;
        const isApproved = facts
          .of('decided')
          .some(
            (one) =>
              one.of === of &&
              one.question === command &&
              one.approved &&
              one.hash === `hash of ${code}` &&
              facts
                .of('answered')
                .some(({ request, answer: { is } }) => request === one.request && is === 'done'),
          );
        return isApproved ? `${command} was approved, and then refused as expired` : undefined;
      });
    },
  },
  {
    name: 'an acknowledged input was typed, and a refused one was not',
    broken: (world) => {
      const { facts } = world;
      return firstOf(facts.of('asked'), ({ message, request, of }) => {
        if (message !== 'input') return undefined;
        const answer = facts.of('answered').find((one) => one.request === request)?.answer;
        const isTyped = facts.of('typed').some((one) => one.input === request && one.of === of);
        if (answer?.is === 'done' && !isTyped) return `${request} was acknowledged and never typed`;
        const isRefused = answer?.is === 'refused' && answer.error.effect === 'none';
        return isRefused && isTyped && !hasEnded(world, of)
          ? `${request} was refused as ${answer.error.code}, and typed`
          : undefined;
      });
    },
  },
  {
    name: 'a signal that a session took is carried out, or its state says why not',
    broken: async (world) => {
      const { facts } = world;
      const isLost = ({ of, name, id }: FactOf<'signalled'>): boolean =>
        name === 'reset' && !hasEnded(world, of) && !facts.of('reset').some((one) => one.id === id);
      for (const signalled of facts.of('signalled').filter(isLost)) {
        const run = world.server.open(signalled.of);
        const refused = run && (await world.stateOf(run))?.refused;
        if (refused?.length === 0) return `${signalled.id} was lost`;
      }
      return undefined;
    },
  },
  {
    name: 'nothing stays open at rest',
    broken: async (world) => {
      for (const run of world.open('execSession')) {
        const state = await world.stateOf(run);
        const left = state ? leftOf(state) : 'a state that cannot be asked for';
        if (left !== undefined) return `${run.workflowId} has ${left}`;
      }
      return undefined;
    },
  },
];

function leftOf({ command, approvals, toolCalls, status }: SessionState): string | undefined {
  if (command) return `the command ${command.id} running`;
  if (approvals.length > 0) return `the approval ${approvals[0]?.id} waiting`;
  if (toolCalls.open.length > 0) return `the call ${toolCalls.open[0]?.id} open`;
  return status === 'idle' ? undefined : `the status ${status}`;
}

/** A script's second run, once its packages are installed. */
const isOrAgain = (ran: string, command: string): boolean => ran === command || ran === idAgain(command);
const idAgain = (command: string): string => `${command}/again`;

const isSame = (one: FactOf<'begun'>, other: FactOf<'begun'>): boolean =>
  one.of === other.of && one.command === other.command;
