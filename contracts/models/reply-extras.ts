// What a provider sends with a reply beside its text and calls. Plain JSON.

/** It goes back to that provider only. */
export interface ReplyExtras {
  /** The first part of `provider:name`. */
  provider: string;
  data: Readonly<Record<string, unknown>>;
}

export interface WithExtras {
  extras?: ReplyExtras;
}

export const providerOf = (model: string): string => model.split(':')[0] ?? '';
