/** Returns an id that nobody can guess: 32 hexadecimal digits. */
export function randomId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
