import type { Exchange } from "../../http/exchange.ts";
import { fetchResponse } from "../../http/upstream/fetch-response.ts";
import { SECOND } from "../../process/units.ts";
import { MAX_OAUTH_REQUEST } from "../oauth/respond.ts";
import {
  type ClientDescription,
  isDocumentAllowed,
  isWithinBounds,
  readClient,
} from "./client-bounds.ts";
import type { FrontSettings } from "./front-settings.ts";
import { unseal } from "./seals.ts";

/** Limits of a document about a client, which the drafts expect to have 5 kB. */
const LIMITS = { maxBytes: 16_384, deadline: 5 * SECOND, expectedStatus: 200 } as const;

/**
 * Returns the client of an id: the one that registered, or the one that the document at this URL describes. Returns the reason as
 * a string if there is no such client.
 */
export async function clientOf(
  exchange: Exchange,
  settings: FrontSettings,
  id: string,
): Promise<ClientDescription | string> {
  if (!isKnownClient(exchange, settings, id))
    return "this program is not registered, or its registration has expired";
  const registered = unseal(exchange.gateway, settings, "client", id);
  return registered ?? describedClient(exchange, settings, id);
}

/** Whether an id is that of a client within the bounds, without fetching its document. */
export function isKnownClient({ gateway }: Exchange, settings: FrontSettings, id: string): boolean {
  if (id.length > MAX_OAUTH_REQUEST) return false;
  const registered = unseal(gateway, settings, "client", id);
  return registered === undefined
    ? isDocumentAllowed(id, settings)
    : isWithinBounds(registered, settings);
}

/** Fetches the document of a client (OAuth Client ID Metadata Document). Redirects are not followed. */
async function describedClient(
  exchange: Exchange,
  settings: FrontSettings,
  url: string,
): Promise<ClientDescription | string> {
  try {
    const request = { method: "GET", url, headers: ["accept", "application/json"] } as const;
    const onAbort = exchange.onAbort.bind(exchange);
    const { body } = await fetchResponse(request, { ...LIMITS, onAbort });
    const document: Readonly<Record<string, unknown>> = Object(JSON.parse(body.toString("utf8")));
    if (document.client_id !== url) return "the document of this program has another client_id";
    const { token_endpoint_auth_method: method = "none" } = document;
    if (method !== "none")
      return "the document of this program wants to authenticate with a secret";
    const client = readClient(document, settings);
    return "error" in client ? `the document of this program: ${client.text}` : client;
  } catch {
    return "the document of this program cannot be read";
  }
}
