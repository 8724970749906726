// What a search in a recorded history looks through: its payloads as they are, not in base64.

/** Payloads and texts of a message, whatever holds them; `left` are names of fields to leave out. */
export function bytesIn(value: unknown, left: readonly string[] = []): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  const parts = Object.entries(value).filter(([name]) => !left.includes(name));
  return parts.map(([, one]) => bytesIn(one, left)).join('\n');
}
