import type { Exchange } from "../http/exchange.ts";
import type { HeaderChanges } from "../http/headers/header-modifier.ts";

/** Changes the headers of whatever answer this exchange gets. */
export function changeResponseHeaders(exchange: Exchange, changes: HeaderChanges): void {
  for (const [name, value] of changes.set) exchange.setResponseHeader(name, value);
  for (const [name, value] of changes.add) exchange.addResponseHeader(name, value);
  for (const name of changes.remove) exchange.removeResponseHeader(name);
}
