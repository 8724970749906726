import { ownValue, setOwn } from '../../../../contracts/own';

test.each(['constructor', '__proto__', 'toString', 'plain'])(
  'the key %s is in a table when it was set there, also once that was JSON, and not before',
  (key) => {
    const table: Record<string, { n: number }> = {};
    expect(ownValue(table, key)).toBeUndefined();
    setOwn(table, key, { n: 1 });
    expect(ownValue(JSON.parse(JSON.stringify(table)) as typeof table, key)).toEqual({ n: 1 });
    expect(Object.getPrototypeOf(table)).toBe(Object.prototype);
  },
);
