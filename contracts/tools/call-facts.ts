// What a tool declares about its calls, and what of it travels with each call: pages, lists and chats know no tool by
// its name, and dialects neither. Plain JSON, no I/O.

/** Languages in which code that was escaped twice can be recognised and repaired. */
export const CODE_LANGUAGES = ['shell', 'python', 'nodejs'] as const;
export type CodeLanguage = (typeof CODE_LANGUAGES)[number];

export const ARGUMENT_ROLES = ['runtime', 'session', 'code', 'typed'] as const;

/** Names of arguments that mean something to people who watch. Other arguments are shown as JSON. */
export interface ArgumentRoles {
  /** The word for what runs it, for example `python`; shown behind the tool's name. */
  runtime?: string | undefined;
  /** The number of a session, on whichever host. */
  session?: string | undefined;
  /** Code, shown last and with its line ends. */
  code?: string | undefined;
  /** Text that is typed into a program. It may be a password: only its length is shown. */
  typed?: string | undefined;
}

/** Recorded with each call of a reply; what does not apply or is not known, as of invalid arguments, is absent. */
export interface CallFacts {
  /** The session of the agent's own host that it is for. */
  session?: number;
  /** It gives that session's terminal to a person and lasts until they are done. */
  forPerson?: true;
  roles?: ArgumentRoles;
}
