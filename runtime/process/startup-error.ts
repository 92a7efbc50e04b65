/** The gateway can't start (or take a new definition): the message is complete and for the operator, no stack. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}

/**
 * A StartupError of a startup value, to be thrown. Startup values are read while the modules of a gateway load, before
 * anything could catch the error: node would print a stack; with this the process ends with 1 and the one line. Who does
 * catch it (a reload) never sees the handler, which is gone in the next turn of the event loop.
 */
export function startupError(message: string): StartupError {
  const error = new StartupError(message);
  const explain = (uncaught: unknown) => {
    process.stderr.write(`error: ${uncaught === error ? message : uncaught}\n`);
    process.exit(1);
  };
  process.once("uncaughtException", explain);
  setImmediate(() => process.off("uncaughtException", explain));
  return error;
}
