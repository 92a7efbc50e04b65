import { SECOND } from "../../process/units.ts";
import { type HeaderList, headerValue } from "./header-list.ts";

/**
 * Returns the milliseconds to wait before the next request to a server (RFC 9110 10.2.3, and `retry-after-ms` of OpenAI's
 * servers); `undefined` if the server does not say.
 */
export function retryAfter(headers: HeaderList): number | undefined {
  const exact = Number(headerValue(headers, "retry-after-ms") ?? Number.NaN);
  if (exact > 0) return exact;
  const text = headerValue(headers, "retry-after");
  if (text === undefined) return undefined;
  const time = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - Date.now();
  return time > 0 ? time : undefined;
}
