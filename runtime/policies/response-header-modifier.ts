import type { Exchange } from "../http/exchange.ts";
import type { HeaderModifier } from "../http/headers/header-modifier.ts";

/** Changes the headers of the response to the client. */
export function modifyResponseHeaders(exchange: Exchange, changes: HeaderModifier): void {
  for (const [name, value] of changes.set) exchange.setResponseHeader(name, value);
  for (const [name, value] of changes.add) exchange.addResponseHeader(name, value);
  for (const name of changes.remove) exchange.removeResponseHeader(name);
}
