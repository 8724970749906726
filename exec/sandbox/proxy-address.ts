// Where a sandbox with named hosts finds its proxy: on its own loopback, so that all can use the same address.
export const PROXY = { host: '127.0.0.1', port: 3128 };

const url = `http://${PROXY.host}:${PROXY.port}`;
const local = 'localhost,127.0.0.1,::1';

/** Read by curl, git, pip, npm, Go and most others; the last is for Node's own client. */
export const PROXY_ENVIRONMENT: readonly [name: string, value: string][] = [
  ...['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY'].map((name): [string, string] => [name, url]),
  ...['no_proxy', 'NO_PROXY'].map((name): [string, string] => [name, local]),
  ['NODE_USE_ENV_PROXY', '1'],
];
