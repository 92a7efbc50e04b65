/** Returns the data of the last event of an event stream that has any; `undefined` if none has. */
export function lastEventData(stream: string): string | undefined {
  const data = stream.split(/\r?\n\r?\n/).map((event) =>
    event
      .split(/\r?\n/)
      .filter((line) => line.startsWith("data:"))
      .map((line) => line.slice("data:".length).trim())
      .join("\n"),
  );
  return data.findLast((text) => text !== "");
}
