import { SECOND } from "../../process/units.ts";
import { type HeaderList, headerValue } from "./header-list.ts";

/**
 * Milliseconds after which a server wants to be asked again (RFC 9110 10.2.3, and the milliseconds that OpenAI's servers say
 * beside it); undefined: it asks for nothing.
 */
export function retryAfter(headers: HeaderList): number | undefined {
  const exact = Number(headerValue(headers, "retry-after-ms") ?? Number.NaN);
  if (exact > 0) return exact;
  const text = headerValue(headers, "retry-after");
  if (text === undefined) return undefined;
  const time = /^\d+$/.test(text) ? Number(text) * SECOND : Date.parse(text) - Date.now();
  return time > 0 ? time : undefined;
}
