/** Returns the data of the last event of an event stream that has any; `undefined` if none has. */
export function lastEventData(stream: string): string | undefined {
  return stream
    .split(EVENT_END)
    .map(dataOf)
    .findLast((text) => text !== "");
}

/** Yields the data of each event of a stream that has any, as soon as the event is complete. */
export async function* streamedEventData(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    const events = rest.split(EVENT_END);
    rest = events.pop() ?? "";
    yield* events.map(dataOf).filter((text) => text !== "");
  }
}

const EVENT_END = /\r?\n\r?\n/;

function dataOf(event: string): string {
  return event
    .split(/\r?\n/)
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice("data:".length).trim())
    .join("\n");
}
