// The environment of sessions: an allow-list, so that no credentials of the worker reach a command.
const PASSED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TZ',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TMPDIR',
  'XDG_RUNTIME_DIR',
];

/** For agents: no blocking pager, no colour codes, UTF-8. */
const SET = {
  TERM: 'xterm-256color',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GH_PAGER: 'cat',
  SYSTEMD_PAGER: '',
  GIT_TERMINAL_PROMPT: '1',
  DEBIAN_FRONTEND: 'noninteractive',
};

export function sessionEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  const passed = PASSED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { SHELL: '/bin/bash', LANG: 'C.UTF-8', ...Object.fromEntries(passed), ...SET };
}

/** The C library loads code and tables from these: in bwrap's environment they would take effect outside. */
const LOADER = /^(LD_.*|GCONV_PATH|LOCPATH|NLSPATH|GLIBC_TUNABLES|MALLOC_.*)$/;

/** Separates the variables that may be set only inside a sandbox from the rest. */
export function withoutLoader(env: Readonly<Record<string, string>>): {
  env: Record<string, string>;
  variables: Record<string, string>;
} {
  const entries = Object.entries(env);
  const isOfLoader = ([name]: [string, string]): boolean => LOADER.test(name);
  return {
    env: Object.fromEntries(entries.filter((entry) => !isOfLoader(entry))),
    variables: Object.fromEntries(entries.filter(isOfLoader)),
  };
}
