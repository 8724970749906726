// SHA-256 (FIPS 180-4) for workflows, which have neither node:crypto nor TextEncoder. Pure.

// prettier-ignore
const K = Int32Array.from([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]);
const START = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
];
const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

/** Hash of the text as UTF-8, in hexadecimal. Half a surrogate pair counts as U+FFFD, as in node:crypto. */
export function sha256(text: string): string {
  const view = padded(text);
  const state = Int32Array.from(START);
  const schedule = new Int32Array(BLOCK_BYTES);
  for (let at = 0; at < view.byteLength; at += BLOCK_BYTES) {
    for (let t = 0; t < 16; t += 1) schedule[t] = view.getInt32(at + 4 * t);
    compress(state, schedule);
  }
  return [...state].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The bytes, a one bit, zeros and the length in bits, in whole blocks. */
function padded(text: string): DataView {
  const bytes = new Uint8Array(3 * text.length + 1 + LENGTH_BYTES + BLOCK_BYTES);
  const length = writeUtf8(text, bytes);
  bytes[length] = 0x80;
  const whole = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  const view = new DataView(bytes.buffer, 0, whole);
  view.setUint32(whole - 8, Math.floor(length / 2 ** 29));
  view.setUint32(whole - 4, (length << 3) >>> 0);
  return view;
}

/** Returns the number of bytes. */
function writeUtf8(text: string, bytes: Uint8Array): number {
  let end = 0;
  for (let index = 0; index < text.length; index += 1) {
    let point = text.charCodeAt(index);
    if (point < 0x80) {
      bytes[end++] = point;
      continue;
    }
    if (point >= 0xd800 && point <= 0xdfff) {
      const low = text.charCodeAt(index + 1);
      const isPair = point < 0xdc00 && low >= 0xdc00 && low <= 0xdfff;
      if (isPair) index += 1;
      point = isPair ? 0x10000 + ((point & 0x3ff) << 10) + (low & 0x3ff) : 0xfffd;
    }
    const more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    bytes[end++] = ((0xff00 >> (more + 1)) & 0xff) | (point >> (6 * more));
    for (let rest = more - 1; rest >= 0; rest -= 1) bytes[end++] = 0x80 | ((point >> (6 * rest)) & 0x3f);
  }
  return end;
}

/** Unrolled for speed: a workflow task hashes a message of half a megabyte. */
function compress(state: Int32Array, w: Int32Array): void {
  for (let t = 16; t < BLOCK_BYTES; t += 1) {
    const x = w[t - 15] as number;
    const y = w[t - 2] as number;
    const early = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const late = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[t] = ((w[t - 16] as number) + early + (w[t - 7] as number) + late) | 0;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let t = 0; t < BLOCK_BYTES; t += 1) {
    const sum1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const first = (h + sum1 + ((e & f) ^ (~e & g)) + (K[t] as number) + (w[t] as number)) | 0;
    const sum0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] = ((state[index] as number) + word) | 0));
}
