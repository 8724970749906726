// Loads each command's code when it is given: a Temporal client alone takes a fifth of a second.

/** The function of that name, which is called as what it is. */
function lazy<M, N extends keyof M>(load: () => Promise<M>, name: N): M[N] {
  const work = async (...args: never[]): Promise<unknown> => {
    const module = await load();
    return (module[name] as (...given: never[]) => unknown)(...args);
  };
  return work as M[N];
}

export const fork = lazy(() => import('./commands/agents'), 'fork');
export const recover = lazy(() => import('./commands/agents'), 'recover');
export const send = lazy(() => import('./commands/agents'), 'send');
export const stop = lazy(() => import('./commands/agents'), 'stop');
export const approve = lazy(() => import('./commands/approve'), 'approve');
export const deny = lazy(() => import('./commands/approve'), 'deny');
export const arm = lazy(() => import('./commands/arm'), 'arm');
export const attach = lazy(() => import('./commands/attach'), 'attach');
export const chat = lazy(() => import('./commands/chat'), 'chat');
export const codec = lazy(() => import('./commands/codec'), 'codec');
export const newKey = lazy(() => import('./commands/codec'), 'newKey');
export const check = lazy(() => import('./commands/check'), 'check');
export const cp = lazy(() => import('./commands/cp'), 'cp');
export const demo = lazy(() => import('./commands/demo'), 'demo');
export const doctor = lazy(() => import('./commands/doctor'), 'doctor');
export const enrolHost = lazy(() => import('./commands/enrol'), 'enrolHost');
export const exec = lazy(() => import('./commands/exec'), 'exec');
export const forgetHost = lazy(() => import('./commands/host'), 'forgetHost');
export const hostAccess = lazy(() => import('./commands/host'), 'hostAccess');
export const hostToken = lazy(() => import('./commands/host'), 'hostToken');
export const listHosts = lazy(() => import('./commands/host'), 'listHosts');
export const serveHost = lazy(() => import('./commands/host'), 'serveHost');
export const showHost = lazy(() => import('./commands/host'), 'showHost');
export const mcp = lazy(() => import('./commands/mcp'), 'mcp');
export const close = lazy(() => import('./commands/output'), 'close');
export const input = lazy(() => import('./commands/output'), 'input');
export const output = lazy(() => import('./commands/output'), 'output');
export const reset = lazy(() => import('./commands/output'), 'reset');
export const ps = lazy(() => import('./commands/ps'), 'ps');
export const tree = lazy(() => import('./commands/ps'), 'tree');
export const run = lazy(() => import('./commands/run'), 'run');
export const showTool = lazy(() => import('./commands/tools'), 'showTool');
export const tools = lazy(() => import('./commands/tools'), 'tools');
export const down = lazy(() => import('./operating/down'), 'down');
export const gc = lazy(() => import('./operating/gc'), 'gc');
export const serveWorker = lazy(() => import('./operating/worker'), 'serveWorker');
export const logs = lazy(() => import('./operating/logs'), 'logs');
export const up = lazy(() => import('./operating/up'), 'up');
export const diff = lazy(() => import('./commands/workspace'), 'diff');
export const log = lazy(() => import('./commands/workspace'), 'log');
export const rewind = lazy(() => import('./commands/workspace'), 'rewind');
export const wait = lazy(() => import('./commands/wait'), 'wait');
export const serve = lazy(() => import('./gateway/serve-gateway'), 'serve');
export const createToken = lazy(() => import('./gateway/token'), 'createToken');
export const listTokens = lazy(() => import('./gateway/token'), 'listTokens');
export const revokeToken = lazy(() => import('./gateway/token'), 'revokeToken');
export const openPage = lazy(() => import('./gateway/open-page'), 'openPage');
