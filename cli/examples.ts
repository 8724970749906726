// Examples shown below a command's help.
const below = (...lines: string[]): string => `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`;

export const EXAMPLES = {
  approve: below(
    'holdfast approve --list                       what is pending, and why',
    'holdfast approve ID --show                    one in full: code or arguments, folder, host',
    'holdfast approve                              approve the only one pending',
    'holdfast approve ID --for-session             approve, and do not ask about the same rules again there',
    'holdfast approve e1c1 --session 2             that of session 2: calls of scripts may have the same ids',
    'holdfast deny --reason "use the staging one"',
  ),
  cp: below(
    'holdfast cp report.pdf planner:               into the folder of agent planner, on its host',
    'holdfast cp planner:out ./results             a folder back: as ./results, or into it if it exists',
    'holdfast cp laptop/planner:/var/log/app.log - the file on host laptop, to standard output',
    'tar c src | holdfast cp - planner:src.tar     from standard input',
  ),
  host: below(
    'holdfast host serve laptop --address temporal.example:7233   this machine, until ctrl-c',
    'holdfast host serve laptop --access read-only --root ~/work',
    'holdfast host access laptop off                               on that machine: run nothing any more',
    'holdfast host ls',
  ),
  serve: below(
    'holdfast serve                                        on this machine; at a terminal it prints a link that logs in',
    'holdfast serve --listen 0.0.0.0:7280 --name agents.example.org --json',
    'holdfast token create ci --role operator --agents "ci-*" --valid 30d',
  ),
  worker: below(
    'holdfast worker --address temporal.example:7233 --agents-only',
    'holdfast worker --address temporal.example:7233 --probes 127.0.0.1:8081 --drain 60s',
  ),
  gc: below(
    'holdfast gc --dry-run             what the worker would remove by now',
    'holdfast gc --older-than 7d       make room',
  ),
  logs: below(
    'holdfast logs review                    what happened to one agent',
    'holdfast logs --level warn --since 1h   what went wrong lately',
    'holdfast logs --follow --json | jq .    as it was written',
  ),
  chat: below(
    'holdfast chat --model openai:gpt-5                  a new conversation in this folder',
    'holdfast chat --agent review                        join the running conversation with this id',
    'holdfast chat --resume                              the latest one running',
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
    'holdfast fork review review-2                       all of it, to continue separately',
    'holdfast fork review review-3 --at 4 "rather so"    from before its fifth message',
    'holdfast fork review review-5 --at 4 --files        in a folder of its own, as the files were then',
    'holdfast fork review review-4 --model anthropic:claude-sonnet-4-5',
  ),
  log: below('holdfast log review', 'holdfast log review --json | jq .steps'),
  diff: below(
    'holdfast diff review                 all that it changed',
    'holdfast diff review --step 4        in one step',
    'holdfast diff review --from 4 --stat which files since step 4',
  ),
  rewind: below(
    'holdfast rewind review --to 4 --dry-run    what would change',
    'holdfast rewind review --to 4              files and conversation as after step 4',
    'holdfast rewind review --to 4 --files      it is told that its files changed',
  ),
  check: below(
    'holdfast check deploy.sh',
    'holdfast check --runtime python - < script        code from a pipe',
  ),
  tree: below('holdfast tree', 'holdfast tree review --watch', 'holdfast tree review --json'),
};
