import path from "node:path";

/** The folder that gwc's own modules run from: the repository, or `dist` of a published package. */
export const moduleRoot = path.resolve(import.meta.dirname, "..", "..");

/** The package's folder: packages are found from there. */
export const packageRoot = import.meta.filename.endsWith(".ts")
  ? moduleRoot
  : path.dirname(moduleRoot);

/** The TypeScript of the runtime modules that generated code imports as `gwc/runtime/...`. */
export const runtimeFolder = path.join(packageRoot, "runtime");
