import type { JsonObject } from "../../cel/variables.ts";
import { readWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { withoutParameter } from "../../http/routing/query.ts";
import type { GatewayEndpoints } from "./adapted-server.ts";
import type { ClientSecret } from "./client-authentication.ts";
import {
  MAX_OAUTH_REQUEST,
  refuseUnreachable,
  respondAsServer,
  respondToMethod,
} from "./respond.ts";

/** The registered client of MCP clients, and its secret. */
export interface EntraClient {
  readonly id: string;
  readonly secret: ClientSecret;
}

const AUTHORIZE = "/authorize";
const TOKEN = "/token";

/**
 * Endpoints of the gateway for a tenant of Microsoft Entra, which refuses requests with the parameter `resource`
 * (AADSTS9010010) that MCP clients must send (RFC 8707). They pass requests on without it. `client`: its secret is added to
 * token requests for a user's grant; absent if the client is public.
 */
export function entraEndpoints(client?: EntraClient): GatewayEndpoints {
  return {
    members: (document, below) => ({
      authorization_endpoint: `${below}${AUTHORIZE}`,
      token_endpoint: `${below}${TOKEN}`,
      // Entra supports it but does not list it, and clients require it.
      code_challenge_methods_supported: document.code_challenge_methods_supported ?? ["S256"],
      ...(client && { token_endpoint_auth_methods_supported: ["none"] }),
    }),
    serve: (exchange, path, metadata) => {
      if (path.endsWith(AUTHORIZE))
        return withServer(exchange, metadata, (document) => authorize(exchange, document));
      if (path.endsWith(TOKEN))
        return withServer(exchange, metadata, (document) => token(exchange, document, client));
      return undefined;
    },
  };
}

async function withServer(
  exchange: Exchange,
  metadata: Parameters<GatewayEndpoints["serve"]>[2],
  serve: (document: JsonObject) => void | Promise<void>,
): Promise<void> {
  const document = await metadata();
  if (document === undefined) refuseUnreachable(exchange);
  else await serve(document);
}

function authorize(exchange: Exchange, document: JsonObject): void {
  if (respondToMethod(exchange, "GET")) return;
  const url = new URL(String(document.authorization_endpoint));
  url.search = withoutParameter(`?${exchange.query}`, "resource");
  exchange.respond(302, ["location", url.href, "cache-control", "no-store"]);
}

async function token(
  exchange: Exchange,
  document: JsonObject,
  client: EntraClient | undefined,
): Promise<void> {
  if (respondToMethod(exchange, "POST")) return;
  const body = await readWhole(exchange, MAX_OAUTH_REQUEST, null);
  if (body === undefined) return;
  const form = new URLSearchParams(body.toString("utf8"));
  form.delete("resource");
  const authorization = exchange.header("authorization");
  if (client !== undefined && authorization === undefined && isOfUser(form, client)) {
    const { secret } = client;
    form.set("client_secret", typeof secret === "string" ? secret : secret());
  }
  const headers = [
    "content-type",
    "application/x-www-form-urlencoded",
    "accept",
    "application/json",
  ];
  if (authorization !== undefined) headers.push("authorization", authorization);
  const url = String(document.token_endpoint);
  await respondAsServer(exchange, url, headers, Buffer.from(form.toString()));
}

/**
 * Whether a token request may get the client's secret: it is for this client, shows no secret of its own, and is for the grant
 * of a user. Anybody can send such requests, and a grant of the client itself would make its permissions theirs.
 */
function isOfUser(form: URLSearchParams, { id }: EntraClient): boolean {
  const ids = form.getAll("client_id");
  const grants = form.getAll("grant_type");
  const [grant = ""] = grants;
  return (
    ids.length === 1 &&
    ids[0] === id &&
    grants.length === 1 &&
    ["authorization_code", "refresh_token"].includes(grant) &&
    !form.has("client_secret") &&
    !form.has("client_assertion")
  );
}
