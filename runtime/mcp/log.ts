/** Writes one line about a target to the gateway's log; what came from outside can't start a line of its own. */
export function logTarget(target: string, text: string): void {
  process.stderr.write(`mcp target ${target}: ${printable(text)}\n`);
}

const longestLine = 4096;

function printable(text: string): string {
  const short = text.length > longestLine ? `${text.slice(0, longestLine)}...` : text;
  // Terminal escapes and line breaks; a tab is harmless.
  return short.replace(/[\p{Cc}\u2028\u2029]/gu, (c) => (c === "\t" ? c : "\uFFFD"));
}
