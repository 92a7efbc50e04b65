/** The gateway can't start (or take a new definition): the message is complete and for the operator, no stack. */
export class StartupError extends Error {
  override readonly name = "StartupError";
}
