import type { Exchange } from "../http/exchange.ts";
import type { HeaderModifier } from "../http/headers/header-modifier.ts";

/** Changes the request headers for the upstream and for later policies. */
export function modifyRequestHeaders(exchange: Exchange, changes: HeaderModifier): void {
  const { set = [], add = [], remove = [] } = changes;
  for (const [name, value] of set) exchange.setRequestHeader(name, value);
  for (const [name, value] of add) exchange.addRequestHeader(name, value);
  for (const name of remove) exchange.removeRequestHeader(name);
}
