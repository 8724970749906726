// Jest loads every module anew for each test file, so that nothing leaks from one to the next. What it loads is compiled
// only once in each of its processes: for a file that imports a Temporal client, that was half of the time to load it.
const { Script } = require('node:vm');
const { default: Runtime } = require('jest-runtime');

/** By file name. The source is compared, because files change while jest watches them. */
const compiled = new Map();

module.exports = class CompiledOnceRuntime extends Runtime {
  constructor(...options) {
    super(...options);
    const { executor } = this;
    const compile = executor.compile.bind(executor);
    executor.compile = (source, filename) => {
      const context = executor.environment.getVmContext();
      // Jest reports syntax errors, and knows what to do without a context.
      if (context === null || source.startsWith('#!')) return compile(source, filename);
      let known = compiled.get(filename);
      if (known?.source !== source) {
        try {
          const parameters = executor.injectedModuleParameters.join(',');
          known = { source, script: new Script(`(function (${parameters}) {${source}\n})`, { filename }) };
        } catch {
          return compile(source, filename);
        }
        compiled.set(filename, known);
      }
      return known.script.runInContext(context);
    };
  }
};
