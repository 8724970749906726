// What the vendors' function calling takes.

/** Tools of one request, by OpenAI's protocols. */
export const MAX_FUNCTIONS = 128;
