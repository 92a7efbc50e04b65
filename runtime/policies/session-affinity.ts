import type { ServerChoice } from "../backends/host.ts";
import {
  anyServer,
  askable,
  type LastingBackends,
  type LastingServer,
  lastingServers,
  serverOfKey,
} from "../backends/lasting-choice.ts";
import type { Exchange } from "../http/exchange.ts";

/**
 * Chooses the server by the value of an expression: the same value leads to the same server. A request without a value goes
 * to any. Returns `undefined` if the request was refused or its client disconnected.
 */
export async function chooseByKey(
  exchange: Exchange,
  backends: LastingBackends,
  key: unknown,
): Promise<ServerChoice | undefined> {
  const servers = await lastingServers(exchange, backends);
  if (servers === undefined) return undefined;
  const tried = new Set<LastingServer>();
  const text = keyText(key);
  return {
    next: () => {
      const askedNow = askable(servers, tried);
      const server = text === undefined ? anyServer(askedNow) : serverOfKey(askedNow, text);
      tried.add(server);
      return server.upstream;
    },
    get hasUntried() {
      return tried.size < servers.length;
    },
  };
}

/** Returns a value as a string; `undefined` for empty strings and objects, which do not identify a caller. */
function keyText(key: unknown): string | undefined {
  switch (typeof key) {
    case "string":
      return key === "" ? undefined : key;
    case "number":
    case "bigint":
    case "boolean":
      return String(key);
    default:
      return undefined;
  }
}
