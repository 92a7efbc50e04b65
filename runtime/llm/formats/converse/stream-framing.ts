import type { JsonObject } from "../../../cel/variables.ts";
import { writeAwsEvent } from "../../../http/body/aws-event-stream.ts";
import type { StreamFraming } from "../../chat/formats.ts";

/**
 * Writes an event of ConverseStream as text. Streams are handled as text, as those of other formats are, until they are
 * written to the client.
 */
export function converseEvent(type: string, payload: JsonObject): string {
  return `data: {${JSON.stringify(type)}:${JSON.stringify(payload)}}\n\n`;
}

/** Writes the events of ConverseStream in their binary form. */
export const converseFraming: StreamFraming = {
  contentType: "application/vnd.amazon.eventstream",
  encode: (events) => {
    const text = events.map((event) => event.toString()).join("");
    return text.split("\n\n").flatMap((event) => {
      const [, type, payload] = EVENT.exec(event) ?? [];
      return type === undefined || payload === undefined ? [] : [frame(type, payload)];
    });
  },
};

/** Comments have no counterpart. */
const EVENT = /^data: \{"(\w+)":(.*)\}$/s;

function frame(type: string, payload: string): Buffer {
  const isException = type.endsWith("Exception");
  const named = isException ? ":exception-type" : ":event-type";
  return writeAwsEvent(
    {
      [named]: type,
      ":content-type": "application/json",
      ":message-type": isException ? "exception" : "event",
    },
    payload,
  );
}
