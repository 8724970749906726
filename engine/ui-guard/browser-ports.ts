// Ports that browsers refuse to connect to, whatever a page requests: the "bad ports" of the Fetch standard (port
// blocking), for each kind of request: fetch, forms, images, frames, WebSocket. Parts of the server that answer any
// Host use these ports, so that a page cannot reach them through a name that it controls.

/**
 * Those that a user may listen on, without the ports of X servers (6000) and NFS (2049), and without those that
 * Chromium 156 allows in violation of the standard (4190, 6679). A test checks them in the browser.
 */
export const BROWSER_BLOCKED_PORTS: readonly number[] = [
  ...[1719, 1720, 1723, 3659, 4045, 5060, 5061, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6697, 10080],
];
