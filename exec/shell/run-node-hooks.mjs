// The hooks of run-node.cjs for releases of Node that run hooks in a thread of their own.
import runner from './run-node.cjs';

let resolver;
export const initialize = (data) => {
  resolver = runner.resolver(data);
};
export const resolve = (...all) => resolver(...all);
