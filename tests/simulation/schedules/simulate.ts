// Plays schedules one after the other until one breaks a rule, or enough were played.
import type { Violation } from '../rules/rule';
import type { WorkflowCode } from '../worker/workflow-code';
import { play } from './play';
import { scheduleOf, type Schedule } from './schedule';
import { shrink } from './shrink';
import { storyOf } from './story';

export interface Found {
  seed: number;
  /** How many schedules were played, the one that found it included. */
  played: number;
  violation: Violation;
  shortest: Schedule;
  story: string;
}

export interface Simulation {
  code: WorkflowCode;
  seed: number;
  schedules: number;
  /** No schedule begins after so long. */
  withinMs?: number;
  progress?: (played: number) => void;
  /** False: it only says what was found. Default true. */
  shrinks?: boolean;
}

/** Undefined if no rule was broken. */
export async function simulate({
  code,
  seed: first,
  schedules,
  withinMs = Infinity,
  progress,
  shrinks = true,
}: Simulation): Promise<Found | undefined> {
  const end = performance.now() + withinMs;
  for (let played = 1; played <= schedules && performance.now() < end; played++) {
    const seed = first + played - 1;
    const schedule = scheduleOf(seed);
    const violation = await play(schedule, code);
    progress?.(played);
    if (!violation) continue;
    if (!shrinks) return { seed, played, violation, shortest: schedule, story: '' };
    const shortest = await shrink(schedule, violation, (other) => play(other, code));
    return { seed, played, violation, shortest, story: await storyOf(shortest, code) };
  }
  return undefined;
}

export const reportOf = ({ seed, violation, shortest, story }: Found): string =>
  [
    `Seed ${seed} broke the rule "${violation.rule}": ${violation.what}`,
    `Its shortest story has ${shortest.steps.length} steps. Once more: npm run simulate -- --seed ${seed} --schedules 1`,
    story,
  ].join('\n\n');
