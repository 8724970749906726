// What the two file searches have in common.

export interface Match {
  file: string;
  line: number;
  text: string;
}

export interface SearchRequest {
  pattern: string;
  /** Full paths, in the order of the matches. */
  files: readonly string[];
  /** Maximum number of matches. */
  limit: number;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}
