import { existsSync } from "node:fs";
import { startupError } from "./startup-error.ts";
import { mountFolderOf } from "./startup-values.ts";

/** Something that a gateway requires at startup, and the place in the configuration that requires it. */
export type StartupNeed =
  | { readonly variable: string; readonly config: string }
  /** Absolute path. */
  | { readonly file: string; readonly config: string };

/**
 * Checks everything that the gateway reads at startup. Throws one StartupError that names all that is missing, which is written
 * in the format of the log.
 */
export function requireAtStart(needs: readonly StartupNeed[], format?: "text" | "json"): void {
  const missing = needs.filter(isMissing).map(problem);
  const [only] = missing;
  if (only === undefined) return;
  throw startupError(
    missing.length === 1
      ? only
      : `${missing.length} things are missing:\n${missing.map((each) => `  ${each}`).join("\n")}`,
    format,
  );
}

/**
 * Whether a need is unmet. A missing Secret among mounted ones only closes what reads it; if the folder of all of them is
 * missing, nothing was mounted.
 */
function isMissing(need: StartupNeed): boolean {
  if ("variable" in need) return process.env[need.variable] === undefined;
  const folder = mountFolderOf(need.file);
  return !existsSync(folder ?? need.file);
}

function problem(need: StartupNeed): string {
  const what =
    "variable" in need
      ? `the environment variable ${need.variable} is not set`
      : `there is no file ${need.file}`;
  return `${what} (${need.config})`;
}
