// What stands below the help of a command.
const below = (...lines: string[]): string => `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;

export const EXAMPLES = {
  approve: below(
    'holdfast approve --list                       what waits, and why',
    'holdfast approve ID --show                    all of one: code or arguments, folder, host',
    'holdfast approve                              yes to the only one that waits',
    'holdfast approve ID --for-session             yes, and the same rules are not asked about again there',
    'holdfast deny --reason "use the staging one"',
  ),
  host: below(
    'holdfast host serve laptop --address temporal.example:7233   this machine, until ctrl-c',
    'holdfast host serve laptop --access read-only --root ~/work',
    'holdfast host access laptop off                               on that machine: nothing runs any more',
    'holdfast host ls',
  ),
  chat: below(
    'holdfast chat --model openai:gpt-5                  a new conversation in this folder',
    'holdfast chat --agent review                        join the conversation that runs under this id',
    'holdfast chat --resume                              the last one that runs',
    'git diff | holdfast send review -                   a message from a pipe',
    'printf "%s\\n" one two | holdfast chat --model M     each line is a message, answers go to stdout',
  ),
  send: below(
    'holdfast send review "and the tests?"',
    'git diff | holdfast send review -',
    'holdfast send review --interrupt "no, only the parser"',
    'holdfast send review --no-wait "when you have time: the docs"',
  ),
  stop: below('holdfast stop review --reason "it is merged"'),
  recover: below('holdfast recover review --reason "the build hangs"'),
  fork: below(
    'holdfast fork review review-2                       all of it, to go on elsewhere',
    'holdfast fork review review-3 --at 4 "rather so"    from before its fifth message',
    'holdfast fork review review-4 --model anthropic:claude-sonnet-4-5',
  ),
  check: below(
    'holdfast check deploy.sh',
    'holdfast check --runtime python - < script        code from a pipe',
  ),
  tree: below('holdfast tree', 'holdfast tree review --watch', 'holdfast tree review --json'),
};
