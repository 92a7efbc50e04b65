import type { Exchange } from "../http/exchange.ts";
import type { HeaderModifier } from "../http/headers/header-modifier.ts";

/** Changes the request headers for the upstream and for later policies. */
export function modifyRequestHeaders(exchange: Exchange, changes: HeaderModifier): void {
  for (const [name, value] of changes.set) exchange.setRequestHeader(name, value);
  for (const [name, value] of changes.add) exchange.addRequestHeader(name, value);
  for (const name of changes.remove) exchange.removeRequestHeader(name);
}
