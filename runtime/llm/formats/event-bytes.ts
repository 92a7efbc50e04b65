/** The data of an event that was cut out of a stream, its lines joined; undefined when it has none. */
export function eventData(event: Buffer): string | undefined {
  return dataOf(event.toString("utf8"));
}

/** The same of an event as text. */
export function dataOf(text: string): string | undefined {
  // Most have one line, and a blank one behind it.
  if (text.startsWith("data: ") && text.indexOf("\n") === text.length - 2 && !text.includes("\r")) {
    return text.slice(6, -2);
  }
  let data: string | undefined;
  // Clients pass over a mark of byte order.
  for (const line of text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)) {
    if (!line.startsWith("data:")) continue;
    const value = line.slice(line.startsWith(" ", 5) ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
  }
  return data;
}
