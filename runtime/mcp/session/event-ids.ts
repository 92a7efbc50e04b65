import type { Exchange } from "../../http/exchange.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";

/** Nobody but this gateway reads what a target has put into an id. */
const BINDING = "event id";

/** The id of a target's event as its client knows it, where rules hide what it might say. Any replica with the key reads it. */
export function sealEventId(exchange: Exchange, id: string): string {
  return id === "" ? "" : sealSession(exchange.gateway.sessionKey, BINDING, id);
}

/** The id as the target knows it: one that was not sealed is its own. */
export function targetEventId(exchange: Exchange, id: string): string {
  return unsealSession(exchange.gateway.sessionKey, BINDING, id) ?? id;
}
