// What the two ways of searching files have in common.

export interface Match {
  file: string;
  line: number;
  text: string;
}

export interface SearchRequest {
  pattern: string;
  /** Full paths, in the order in which matches are returned. */
  files: readonly string[];
  /** Most matches. */
  limit: number;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}
