import { resolve } from "node:path";
import { StartupError } from "./startup-error.ts";

/**
 * A value that the environment gives when the gateway starts. Throws StartupError naming the variable when it is unset
 * and there is no fallback; uncaught, the process ends with 1 and that one line.
 */
export function env(name: string, fallback?: string): string {
  const value = process.env[name] ?? fallback;
  if (value === undefined) {
    throw explained(new StartupError(`the environment variable ${name} is not set`));
  }
  return value;
}

/**
 * The absolute path of a file that the gateway reads at run time: relative ones start at GWC_CONFIG_DIR, else at the
 * working directory.
 */
export function file(path: string): string {
  return resolve(process.env.GWC_CONFIG_DIR ?? ".", path);
}

/**
 * Late values are read while the modules of a gateway load, before anything could catch the error: node would print a
 * stack. Who does catch it (a reload) never sees the handler, which is gone in the next turn of the event loop.
 */
function explained(error: StartupError): StartupError {
  const explain = (uncaught: unknown) => {
    process.stderr.write(`error: ${uncaught === error ? error.message : uncaught}\n`);
    process.exit(1);
  };
  process.once("uncaughtException", explain);
  setImmediate(() => process.off("uncaughtException", explain));
  return error;
}
