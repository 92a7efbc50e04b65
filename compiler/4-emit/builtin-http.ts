import type { Plugin } from "esbuild";

const ID = "node:http";

/** The name of what is in its place. */
const NAMESPACE = "builtin";

/**
 * An `import` of node:http asks for all that it exports, and fetch and WebSocket are loaded for that: a fifth of the time
 * that a gateway takes to start. In a bundle each name is asked for by itself.
 */
export const builtinHttp: Plugin = {
  name: "builtin-http",
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${ID}$`) }, ({ path, kind }) =>
      kind === "import-statement" ? { path, namespace: NAMESPACE, sideEffects: false } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => ({
      contents: moduleText(),
      loader: "js",
    }));
  },
};

/** What is exported as a value; the rest is loaded when it is read. */
function moduleText(): string {
  const exported = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(ID)))
    .filter(([, { value }]) => value !== undefined)
    .map(([name]) => `export const ${name} = /* @__PURE__ */ valueOf("${name}");\n`);
  return `const valueOf = (name) => process.getBuiltinModule("${ID}")[name];\n${exported.join("")}`;
}
