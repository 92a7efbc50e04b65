/**
 * A file of a mounted Secret or ConfigMap is missing or malformed: whatever needs it is refused, and nothing else. The message
 * is for the operator, without the file's content.
 */
export class UnusableFile extends Error {
  override readonly name = "UnusableFile";

  constructor(path: string, reason: string) {
    super(`${path} can't be used: ${reason}`);
  }
}
