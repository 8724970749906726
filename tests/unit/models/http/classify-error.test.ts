import { classifyError, ReportedError } from '../../../../models/http/classify-error';

const call = { model: 'sim:small', address: 'http://127.0.0.1', secrets: [], limit: undefined };
const codeOf = (status: number, error: object): string =>
  classifyError(Object.assign(new Error('x'), { status, error }), call).code;

test.each<[string, number, object]>([
  [
    'Anthropic, which counts what it may write',
    400,
    {
      type: 'invalid_request_error',
      message:
        'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000, decrease input length',
    },
  ],
  [
    'Gemini',
    400,
    {
      code: 400,
      message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    },
  ],
  [
    'xAI',
    400,
    { message: "This model's maximum prompt length is 131072 but the request contains 140000 tokens." },
  ],
  ['llama.cpp by its type', 400, { code: 400, type: 'exceed_context_size_error', message: 'No.' }],
  [
    'llama.cpp by its words',
    400,
    {
      type: 'invalid_request_error',
      message: 'the request exceeds the available context size, try increasing it',
    },
  ],
  [
    'OpenAI, whose limit for a minute is smaller than the request',
    429,
    {
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message:
        'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35000. The input or output ' +
        'tokens must be reduced in order to run successfully.',
    },
  ],
  [
    'Groq, whose limit for a minute is smaller than the request',
    413,
    {
      type: 'tokens',
      code: 'rate_limit_exceeded',
      message:
        'Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 6548, please reduce.',
    },
  ],
])('a conversation is too long in the words of %s', (_name, status, error) => {
  expect(codeOf(status, error)).toBe('model_context_length');
  expect(classifyError(new ReportedError({ code: status, ...error }), call).code).toBe(
    'model_context_length',
  );
});

test.each<[string, number, object]>([
  ['model_rate_limit', 429, { code: 'rate_limit_exceeded', message: 'Rate limit reached: Limit 30000.' }],
  ['model_rate_limit', 429, { message: 'Too many tokens per minute.' }],
  ['model_bad_request', 400, { message: '`max_tokens` must be at most 8192' }],
])('%s is not mistaken for it', (code, status, error) => {
  expect(codeOf(status, error)).toBe(code);
});

test.each<[string, number, object, RegExp]>([
  [
    'the limit for a minute',
    429,
    {
      code: 'rate_limit_exceeded',
      message: 'Request too large for m on tokens per min (TPM): Limit 1, Requested 2.',
    },
    /too long for the rate limit of sim:small: .* Next: Raise the limit at the provider.*max_output_tokens/,
  ],
  [
    'the limit for a minute, with the status of a body that is too large',
    413,
    { code: 'rate_limit_exceeded', message: 'Request too large for m on tokens per minute (TPM): Limit 1.' },
    /Next: Raise the limit at the provider/,
  ],
  [
    'the body',
    413,
    { message: 'Request too large' },
    /too long for sim:small: .* Next: Use a model with a larger window/,
  ],
  [
    'the window',
    400,
    { code: 'context_length_exceeded', message: 'Too much.' },
    /Next: Use a model with a larger window, or start an agent with less to read/,
  ],
])('the next step of a request that is too large for %s is one that helps', (_name, status, error, text) => {
  const { message } = classifyError(Object.assign(new Error('x'), { status, error }), call);
  expect(message).toMatch(text);
  expect(message).not.toContain('`window`');
});
