import { bugText } from "../process/bug-text.ts";

/** A bug shows itself on stderr only, with the stack; never to a client. */
export function reportBug(where: string, error: unknown): void {
  process.stderr.write(`${where}: ${bugText(error)}\n`);
}
