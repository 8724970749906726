// `fetch` without Node's own limit of five minutes, for answers that may take longer; callers set their own.

/** The part of Node's HTTP client that handles each request; Node's types do not include it. */
interface Dispatcher {
  dispatch(options: object, handler: object): boolean;
}

/** Where Node keeps the dispatcher that `fetch` uses; it exists once `fetch` has been loaded. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');

export const patientFetch = (url: string | URL | Request, init?: RequestInit): Promise<Response> =>
  fetch(url, { ...init, ...patience() } as RequestInit);

function patience(): { dispatcher?: Dispatcher } {
  const dispatcher = (globalThis as Record<symbol, Dispatcher | undefined>)[GLOBAL_DISPATCHER];
  if (!dispatcher) return {};
  const limits = { headersTimeout: 0, bodyTimeout: 0 };
  return {
    dispatcher: { dispatch: (options, handler) => dispatcher.dispatch({ ...options, ...limits }, handler) },
  };
}
