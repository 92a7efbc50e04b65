import type { Plugin } from "esbuild";

const ID = "node:http";

/** Namespace of the module that replaces it. */
const NAMESPACE = "builtin";

/**
 * Plugin that loads node:http lazily. An `import` of node:http evaluates everything that it exports, including fetch
 * and WebSocket, which takes a fifth of a gateway's start time. In a bundle, each export is read on its own.
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

/** Exports that are read at once; the others are loaded on first use. */
function moduleText(): string {
  const exported = Object.entries(Object.getOwnPropertyDescriptors(process.getBuiltinModule(ID)))
    .filter(([, { value }]) => value !== undefined)
    .map(([name]) => `export const ${name} = /* @__PURE__ */ valueOf("${name}");\n`);
  return `const valueOf = (name) => process.getBuiltinModule("${ID}")[name];\n${exported.join("")}`;
}
