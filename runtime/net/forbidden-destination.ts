/** A destination that a client chose and that it may not reach; the message is for the log. */
export class ForbiddenDestination extends Error {
  override readonly name = "ForbiddenDestination";
}
