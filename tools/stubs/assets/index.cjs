// The tools of the agent as functions. A live object: tools added later are found on it, too.
'use strict';
const { ToolError, invoke, isText, manifest, stub } = require('./runtime.cjs');

const own = {
  ToolError,
  call: (name, args, options) => invoke(name, false, args, options),
  tools: () => manifest().map(({ name }) => name),
};

function find(name) {
  // `then` would turn this object into a promise; a tool with that name is `then_`.
  if (typeof name !== 'string' || name === 'then') return undefined;
  if (name === 'default') return live;
  if (Object.hasOwn(own, name)) return own[name];
  const entries = manifest();
  const entry =
    entries.find((tool) => tool.function === name) ?? entries.find((tool) => `${tool.function}_` === name);
  return entry && stub(name, entry.name, isText(entry));
}

const live = new Proxy(Object.create(null), {
  get: (target, name) => (Object.hasOwn(target, name) ? target[name] : find(name)),
  has: (target, name) => Object.hasOwn(target, name) || find(name) !== undefined,
  ownKeys: (target) => [
    ...new Set([...Reflect.ownKeys(target), ...Object.keys(own), ...manifest().map((tool) => tool.function)]),
  ],
  getOwnPropertyDescriptor(target, name) {
    const value = Object.hasOwn(target, name) ? target[name] : find(name);
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true };
  },
});

module.exports = live;
