import { type Exchange, logFields } from "../../http/exchange.ts";

/** Header of a whole response, trailer and comment of a stream, that tell the client of a problem. */
export const WARNING_HEADER = "x-llm-warning";

/**
 * Logs a problem of a response, and returns its text for the client: ASCII in one line. The text may have names of the client's
 * schema.
 */
export function noteWarning({ record }: Exchange, warning: string): string {
  const text = warning.slice(0, MAX_WARNING).replace(/[^\x20-\x7e]/g, "?");
  logFields(record).set("llm.warning", text);
  return text;
}

/** Header of a whole response, trailer and comment of a stream, that name fields which the client's format does not express. */
export const LOST_HEADER = "x-llm-response-dropped";

/** Logs such fields. */
export function noteLost({ record }: Exchange, names: string): string {
  logFields(record).set("llm.response.dropped", names);
  return names;
}

/**
 * Names fields that are left out of a request, to the client and in the log. Another provider may have been sent other fields
 * before.
 */
export function noteDropped(exchange: Exchange, dropped: readonly string[]): void {
  const fields = logFields(exchange.record);
  if (dropped.length === 0) {
    if (!fields.has("llm.dropped")) return;
    fields.delete("llm.dropped");
    exchange.removeResponseHeader(DROPPED_HEADER);
    return;
  }
  const names = dropped.join(", ");
  exchange.setResponseHeader(DROPPED_HEADER, names);
  fields.set("llm.dropped", names);
}

const DROPPED_HEADER = "x-llm-dropped";

/** Maximum length of a warning, in characters. */
const MAX_WARNING = 300;
