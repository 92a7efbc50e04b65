/** A bug shows itself on stderr only, with the stack; never to a client. */
export function reportBug(where: string, error: unknown): void {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`${where}: ${text}\n`);
}
