// For webpack: a module whose exports are frozen already when Temporal's SDK freezes what is preloaded, so that the SDK
// goes no further into them. For schemas: zod defines parts of them at their first use.
module.exports = (source) => `${source}\nObject.freeze(exports);\n`;
