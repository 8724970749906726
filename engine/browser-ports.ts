// Ports that browsers do not connect to, whatever a page asks for: the "bad ports" of the Fetch standard (port blocking),
// for each kind of request: fetch, forms, images, frames, WebSocket. What of the server answers any Host lies there, so
// that a page cannot reach it by a name that it controls.

/**
 * Those that a user may listen on, without the ones of an X server (6000) and of NFS (2049), and without those that
 * Chromium 156 lets through against the standard (4190, 6679). A test asks the browser.
 */
export const BROWSER_BLOCKED_PORTS: readonly number[] = [
  ...[1719, 1720, 1723, 3659, 4045, 5060, 5061, 6566],
  ...[6665, 6666, 6667, 6668, 6669, 6697, 10080],
];
