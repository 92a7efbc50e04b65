import { readWhole } from "../../http/buffer-body.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { HOUR, SECOND } from "../../process/units.ts";
import { MAX_OAUTH_REQUEST, respondJson, respondToMethod } from "../oauth/respond.ts";
import { readClient } from "./client-bounds.ts";
import type { Front } from "./front-settings.ts";
import { noteClient } from "./note-client.ts";
import { seal } from "./seals.ts";

/**
 * Registers a client (RFC 7591). Its id is its description, sealed, so that nothing is stored: registrations need no memory, and
 * all threads and replicas know them.
 */
export async function registerClient(exchange: Exchange, front: Front): Promise<void> {
  if (respondToMethod(exchange, "POST")) return;
  const body = await readWhole(exchange, MAX_OAUTH_REQUEST, null);
  if (body === undefined) return;
  const client = readClient(jsonOf(body), front);
  if ("error" in client) {
    exchange.record.reason = "Oidc";
    logFields(exchange.record).set("error", client.text);
    respondJson(exchange, 400, { error: client.error, error_description: client.text });
    return;
  }
  if (!front.registrations.add(exchange.gateway)) {
    exchange.record.reason = "RateLimit";
    exchange.addResponseHeader("retry-after", String(Math.ceil(untilNextHour() / SECOND)));
    respondJson(exchange, 429, {
      error: "temporarily_unavailable",
      error_description: "too many registrations in this hour",
    });
    return;
  }
  const now = Date.now();
  noteClient(exchange, "registered", client.name, client.redirectUris[0]);
  respondJson(exchange, 201, {
    client_id: seal(exchange.gateway, front, "client", {
      ...client,
      end: now + front.registrationLifetime,
    }),
    client_id_issued_at: Math.floor(now / SECOND),
    ...(client.name !== undefined && { client_name: client.name }),
    redirect_uris: [...client.redirectUris],
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
}

function untilNextHour(): number {
  return HOUR - (Date.now() % HOUR);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}
