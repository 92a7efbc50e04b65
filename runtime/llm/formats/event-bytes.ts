/** The data of an event that was cut out of a stream, its lines joined; undefined when it has none. */
export function eventData(event: Buffer): string | undefined {
  let data: string | undefined;
  for (const line of event.toString("utf8").split(/\r\n|\r|\n/)) {
    if (!line.startsWith("data:")) continue;
    const value = line.slice(line.startsWith(" ", 5) ? 6 : 5);
    data = data === undefined ? value : `${data}\n${value}`;
  }
  return data;
}
