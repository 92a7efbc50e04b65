/**
 * A file of a mounted Secret or ConfigMap is missing or malformed. Everything that needs the file is refused, and nothing else.
 * The message is for the operator and does not contain the file's content.
 */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";

  constructor(path: string, reason: string) {
    super(`${path} can't be used: ${reason}`);
  }
}
