/** Whether code of a gateway says by an error that it can't start: the message is complete, and no bug. */
export function isStartupError(error: unknown): error is Error {
  // A bundle has a class of its own.
  return error instanceof Error && error.name === "StartupError";
}
