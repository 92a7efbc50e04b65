/** Formats an unexpected exception for the log: its stack, without the quote of the parsed message that `JSON.parse` adds. */
export function bugText(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return error instanceof SyntaxError ? text.replace(QUOTED, "invalid JSON") : text;
}

const QUOTED = /(?:Unexpected token )?['"].*?is not valid JSON/s;
