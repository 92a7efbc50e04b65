/**
 * What the log says of an exception that nobody expected: where it came from, and nothing of a message that was being
 * read, which `JSON.parse` quotes.
 */
export function bugText(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return error instanceof SyntaxError ? text.replace(QUOTED, "a text is not valid JSON") : text;
}

const QUOTED = /(?:Unexpected token )?['"].*?is not valid JSON/s;
