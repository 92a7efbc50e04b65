/** Returns the data of an SSE event, its lines joined; `undefined` if it has no data. */
export function eventData(event: Buffer): string | undefined {
  return dataOf(event.toString("utf8"));
}

/** Returns the data of an event that is a string. */
export function dataOf(text: string): string | undefined {
  // Fast path: most events have one line, followed by a blank one.
  if (text.startsWith("data: ") && text.indexOf("\n") === text.length - 2 && !text.includes("\r")) {
    return text.slice(6, -2);
  }
  let data: string | undefined;
  // Clients ignore a byte order mark.
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)) {
    if (!line.startsWith("data:")) continue;
    const value = line.slice(line.startsWith(" ", 5) ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
  }
  return data;
}
