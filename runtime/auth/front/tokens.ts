import { createHash, timingSafeEqual } from "node:crypto";
import type { JsonObject } from "../../cel/variables.ts";
import { readWhole } from "../../http/buffer-body.ts";
import { type Exchange, logFields } from "../../http/exchange.ts";
import { Remembered } from "../../process/remembered.ts";
import { addressIn, strings } from "../connections/authorization-server.ts";
import { configuredClient, requestAs } from "../connections/connection-client.ts";
import { metadataOf } from "../oauth/metadata.ts";
import { TokensRefused } from "../oauth/request-tokens.ts";
import { MAX_OAUTH_REQUEST, respondJson, respondToMethod } from "../oauth/respond.ts";
import { callbackOf, isResourceAllowed } from "./authorize.ts";
import type { Front } from "./front-settings.ts";
import { isKnownClient } from "./mcp-clients.ts";
import { noteClient } from "./note-client.ts";
import { uniqueParameters } from "./parameters.ts";
import { seal, sealDigest, unseal } from "./seals.ts";

/** Maximum number of remembered codes. Forgotten ones are still refused by the provider. */
const MAX_CODES = 10_000;

/** Codes that were redeemed. */
const REDEEMED = new Remembered("codes of authorization servers", MAX_CODES);

type Form = readonly (readonly [name: string, value: string])[];
type Parameters = ReadonlyMap<string, string>;

/** Error of a token request (RFC 6749 5.2). */
interface TokenError {
  readonly status: 400 | 401;
  readonly error: string;
  readonly text: string;
}

/** Issues tokens to clients: those of the provider, for a code or a refresh token that was sealed for the client. */
export async function serveTokens(exchange: Exchange, front: Front): Promise<void> {
  if (respondToMethod(exchange, "POST")) return;
  const body = await readWhole(exchange, MAX_OAUTH_REQUEST, null);
  if (body === undefined) return;
  const parameters = uniqueParameters(body.toString("utf8"));
  const form =
    parameters === undefined
      ? invalid("invalid_request", "a parameter is repeated")
      : formFor(exchange, front, parameters);
  if (parameters === undefined || "error" in form) {
    refuseTokens(exchange, "error" in form ? form : invalid("invalid_request", ""));
    return;
  }
  const metadata = await metadataOf(exchange, front);
  const endpoint = metadata && addressIn(metadata, "token_endpoint");
  if (metadata === undefined || endpoint === undefined) return refuseAway(exchange);
  const methods = strings(metadata.token_endpoint_auth_methods_supported);
  try {
    const client = configuredClient(front.client, methods);
    const response = await requestAs(client, endpoint, form);
    respondTokens(exchange, front, parameters, response);
  } catch (error) {
    if (error instanceof TokensRefused && PASSED_ON.has(error.word ?? "")) {
      refuseTokens(exchange, invalid(error.word ?? "", "the identity provider refused"));
      return;
    }
    logFields(exchange.record).set("error", error instanceof Error ? error.message : String(error));
    refuseAway(exchange);
  }
}

/** Refusals of the provider that are about the client's request, not about the gateway's credentials. */
const PASSED_ON: ReadonlySet<string> = new Set([
  ...["invalid_grant", "invalid_scope", "invalid_target"],
]);

/** Returns the form for the provider. */
function formFor(exchange: Exchange, front: Front, parameters: Parameters): Form | TokenError {
  const id = parameters.get("client_id") ?? "";
  if (exchange.header("authorization") !== undefined || !isKnownClient(exchange, front, id))
    return { status: 401, error: "invalid_client", text: "the client is not registered" };
  if (!isResourceAllowed(parameters.get("resource"), front))
    return invalid("invalid_target", "the resource is not one of this gateway");
  switch (parameters.get("grant_type")) {
    case "authorization_code":
      return codeForm(exchange, front, parameters, sealDigest(id));
    case "refresh_token":
      return refreshForm(exchange, front, parameters, sealDigest(id));
    default:
      return invalid("unsupported_grant_type", "there are authorization_code and refresh_token");
  }
}

function codeForm(
  exchange: Exchange,
  front: Front,
  parameters: Parameters,
  client: string,
): Form | TokenError {
  const { gateway } = exchange;
  const sealed = parameters.get("code") ?? "";
  const code = unseal(gateway, front, "code", sealed);
  const redirectUri = parameters.get("redirect_uri") ?? code?.redirectUri;
  if (
    code === undefined ||
    code.client !== client ||
    code.redirectUri !== redirectUri ||
    !isVerifierOf(parameters.get("code_verifier") ?? "", code.challenge)
  )
    return invalid("invalid_grant", "the code is not valid for this client, URI and verifier");
  const resource = parameters.get("resource") ?? code.resource;
  if (code.resource !== undefined && resource !== code.resource)
    return invalid("invalid_target", "the code is for another resource");
  if (!REDEEMED.add(sealed, code.end, gateway))
    return invalid("invalid_grant", "the code was already used");
  noteClient(exchange, "redeemed", code.name, code.redirectUri);
  return [
    ["grant_type", "authorization_code"],
    ["code", code.code],
    ["redirect_uri", callbackOf(front)],
    ["code_verifier", code.verifier],
    ...resourceForm(front, resource),
  ];
}

function refreshForm(
  { gateway }: Exchange,
  front: Front,
  parameters: Parameters,
  client: string,
): Form | TokenError {
  const refresh = unseal(gateway, front, "refresh", parameters.get("refresh_token") ?? "");
  if (refresh === undefined || refresh.client !== client)
    return invalid("invalid_grant", "the refresh token is not valid for this client");
  const scope = parameters.get("scope") ?? "";
  const scopes = scope.split(" ").filter((each) => each !== "");
  if (scopes.some((each) => !front.scopes.includes(each)))
    return invalid("invalid_scope", "one of the scopes may not be requested");
  return [
    ["grant_type", "refresh_token"],
    ["refresh_token", refresh.token],
    ...(scopes.length === 0 ? [] : [["scope", scopes.join(" ")] as const]),
    ...resourceForm(front, parameters.get("resource")),
  ];
}

function resourceForm({ sendsResource }: Front, resource: string | undefined): Form {
  return resource === undefined || !sendsResource ? [] : [["resource", resource]];
}

/** Whether a verifier has this digest (RFC 7636 4.6). */
function isVerifierOf(verifier: string, challenge: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
  const digest = Buffer.from(createHash("sha256").update(verifier).digest("base64url"));
  const expected = Buffer.from(challenge);
  return digest.length === expected.length && timingSafeEqual(digest, expected);
}

/** Responds with the provider's tokens. The ID token is about the gateway's login, so clients do not get it. */
function respondTokens(
  exchange: Exchange,
  front: Front,
  parameters: Parameters,
  { access_token: token, token_type: type, expires_in: seconds, refresh_token, scope }: JsonObject,
): void {
  if (typeof token !== "string") throw new Error("the response has no token");
  const client = sealDigest(parameters.get("client_id") ?? "");
  const refresh =
    typeof refresh_token === "string"
      ? seal(exchange.gateway, front, "refresh", { client, token: refresh_token })
      : // A provider that does not replace the refresh token leaves it valid (RFC 6749 6).
        parameters.get("refresh_token");
  respondJson(exchange, 200, {
    access_token: token,
    token_type: typeof type === "string" ? type : "Bearer",
    ...(typeof seconds === "number" && { expires_in: seconds }),
    ...(typeof scope === "string" && { scope }),
    ...(refresh !== undefined && { refresh_token: refresh }),
  });
}

function invalid(error: string, text: string): TokenError {
  return { status: 400, error, text };
}

function refuseTokens(exchange: Exchange, { status, error, text }: TokenError): void {
  exchange.record.reason = "Oidc";
  logFields(exchange.record).set("error", `${error}: ${text}`);
  respondJson(exchange, status, { error, error_description: text });
}

function refuseAway(exchange: Exchange): void {
  exchange.record.reason = "UpstreamFailure";
  respondJson(exchange, 503, {
    error: "temporarily_unavailable",
    error_description: "the identity provider cannot be used",
  });
}
