import type { Plugin } from "esbuild";

const id = "node:http";

/** The name of what is in its place. */
const namespace = "builtin";

/**
 * An `import` of node:http asks for all that it exports, and fetch and WebSocket are loaded for that: a fifth of the time
 * that a gateway takes to start. In a bundle each name is asked for by itself.
 */
export const builtinHttp: Plugin = {
  name: "builtin-http",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${id}$`) }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace, sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace }, () => ({ contents: moduleText(), loader: "js" }));
  },
};

/** What is exported as a value; the rest is loaded when it is read. */
function moduleText(): string {
  const exported = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(id)))
    .filter(([, { value }]) => value !== undefined)
    .map(([name]) => `export const ${name} = /* @__PURE__ */ valueOf("${name}");\n`);
  return `const valueOf = (name) => process.getBuiltinModule("${id}")[name];\n${exported.join("")}`;
}
