import type { Exchange } from "../http/exchange.ts";
import type { HeaderModifier } from "../http/headers/header-modifier.ts";

/** Changes the headers of the response to the client. */
export function modifyResponseHeaders(exchange: Exchange, changes: HeaderModifier): void {
  const { set = [], add = [], remove = [] } = changes;
  for (const [name, value] of set) exchange.setResponseHeader(name, value);
  for (const [name, value] of add) exchange.addResponseHeader(name, value);
  for (const name of remove) exchange.removeResponseHeader(name);
}
