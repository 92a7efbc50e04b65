/** Whether an error means that a gateway cannot start, rather than a bug: its message is complete. */
export function isStartupError(error: unknown): error is Error {
  // A bundle has its own copy of the class.
  return error instanceof Error && error.name === "StartupError";
}
