// What a turn carries over.
import type { Message, Usage } from '../../contracts/agents/agent';

/** What a turn carries over when it continues as new. */
export interface TurnRecord {
  messages: Message[];
  steps: number;
  calls: number;
  /** Those of them that the turn ran itself. */
  ownCalls: number;
  /** Malformed replies in a row. */
  repairs: number;
  sessions: number[];
  usage: Usage | null;
  /** The conversation must be summarized before the next step. */
  isFullForModel: boolean;
  /** Start of its first run, in milliseconds since 1970. */
  startedAt: number;
  /** Rules approved for as long as the turn lasts. */
  cleared?: string[];
}
