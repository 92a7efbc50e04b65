import { writeError } from "./operator-errors.ts";

/** The gateway cannot start or take a new definition. The message is complete and meant for the operator, without a stack. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/**
 * Creates a StartupError to throw while startup values are read. That happens while the modules of a gateway load, where
 * nothing can catch it and Node would print a stack; with this handler the process prints one line and exits with 1. If a
 * caller catches the error (a reload), the handler is removed in the next turn of the event loop. `configured`: format of the log.
 */
export function startupError(message: string, configured?: "text" | "json"): StartupError {
  const error = new StartupError(message);
  const explain = (uncaught: unknown) => {
    writeError(uncaught === error ? message : String(uncaught), { configured });
    process.exit(1);
  };
  process.once("uncaughtException", explain);
  setImmediate(() => process.off("uncaughtException", explain));
  return error;
}
