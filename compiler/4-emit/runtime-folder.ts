import path from "node:path";

/** The folder that holds runtime/: this package's root. */
export const packageRoot = path.resolve(import.meta.dirname, "..", "..");

/** The folder of the runtime modules that generated code imports as `gwc/runtime/...`. */
export const runtimeFolder = path.join(packageRoot, "runtime");
