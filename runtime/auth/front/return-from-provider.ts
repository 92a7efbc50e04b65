import { type Exchange, logFields } from "../../http/exchange.ts";
import { Remembered } from "../../process/remembered.ts";
import { MINUTE } from "../../process/units.ts";
import { metadataOf } from "../oauth/metadata.ts";
import { errorWord } from "../oauth/request-tokens.ts";
import { cookiesOf, refusePage, responseUrl, sendToClient } from "./authorize.ts";
import type { Front } from "./front-settings.ts";
import { uniqueParameters } from "./parameters.ts";
import { seal, unseal } from "./seals.ts";

/** Maximum number of remembered logins that have returned. */
const MAX_RETURNED = 10_000;
/** Milliseconds in which a client has to redeem its code (RFC 6749 4.1.2 permits 10 minutes). */
const CODE_TIME = 5 * MINUTE;

/** Logins that have returned. */
const RETURNED = new Remembered("logins at authorization servers", MAX_RETURNED);

/**
 * Takes the provider's response once, in the browser in which the person allowed the client, and passes it on to the client. The
 * client's code is the provider's, sealed with the client's challenge, so it is of no use to anybody else.
 */
export async function returnFromProvider(exchange: Exchange, front: Front): Promise<void> {
  const { gateway } = exchange;
  const parameters = uniqueParameters(exchange.query);
  const ownState = parameters?.get("state") ?? "";
  const cookies = cookiesOf(exchange, front);
  const login = unseal(gateway, front, "login", cookies.login(ownState) ?? "");
  if (parameters === undefined || login === undefined || login.ownState !== ownState)
    return refusePage(exchange, 400, "this was not started in this browser, or took too long");
  if (!RETURNED.add(ownState, login.end, gateway))
    return refusePage(exchange, 400, "this login was already completed");
  exchange.addResponseHeader("set-cookie", cookies.dropLogin(ownState));
  const metadata = await metadataOf(exchange, front);
  if (metadata === undefined)
    return refusePage(exchange, 503, "the identity provider cannot be reached");
  const { authorization_response_iss_parameter_supported: namesIssuer } = metadata;
  const issuer = parameters.get("iss");
  if (issuer === undefined ? namesIssuer === true : issuer !== metadata.issuer)
    return refusePage(exchange, 400, "the response is from another authorization server");
  const { state, redirectUri } = login;
  const code = parameters.get("code");
  if (code === undefined) {
    const error = clientError(errorWord(parameters.get("error")));
    exchange.record.reason = "Oidc";
    logFields(exchange.record).set("error", `the provider refused: ${error}`);
    sendToClient(exchange, responseUrl(redirectUri, front, { error, state }));
    return;
  }
  const { client, name, challenge, scopes, resource, verifier } = login;
  const sealed = seal(gateway, front, "code", {
    ...{ client, name, redirectUri, challenge, scopes, resource, code, verifier },
    end: Date.now() + CODE_TIME,
  });
  sendToClient(exchange, responseUrl(redirectUri, front, { code: sealed, state }));
}

/** Errors that clients may see (RFC 6749 4.1.2.1); others are about the gateway's own request. */
const CLIENT_ERRORS: ReadonlySet<string> = new Set([
  ...["access_denied", "invalid_scope", "temporarily_unavailable"],
]);

function clientError(word: string | undefined): string {
  return word !== undefined && CLIENT_ERRORS.has(word) ? word : "server_error";
}
