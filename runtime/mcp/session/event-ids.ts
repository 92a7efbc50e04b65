import type { Exchange } from "../../http/exchange.ts";
import { sealSession, unsealSession } from "../../process/session-seal.ts";

/** The purpose that binds the seal: only this gateway reads the target's event ids. */
const BINDING = "event id";

/**
 * Seals the id of a target's event for its client, where rules hide parts of responses. Any replica with the key can unseal
 * it.
 */
export function sealEventId(exchange: Exchange, id: string): string {
  return id === "" ? "" : sealSession(exchange.gateway.sessionKeys, BINDING, id);
}

/** Returns the target's own id; an id that was not sealed is returned unchanged. */
export function targetEventId(exchange: Exchange, id: string): string {
  return unsealSession(exchange.gateway.sessionKeys, BINDING, id) ?? id;
}
