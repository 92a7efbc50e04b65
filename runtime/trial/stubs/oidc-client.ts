import type { BrowserCookies } from "../../auth/oidc/browser-cookies.ts";
import { OidcClient as RealClient } from "../../auth/oidc/client.ts";
import type { OidcSettings } from "../../auth/oidc/oidc-settings.ts";
import { grantedSession, type KnownSession, seconds } from "../../auth/oidc/session.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { currentTrial } from "../trial.ts";
import { signedToken } from "./key-source.ts";

/** Replaces auth/oidc/client.ts: a trial with a token is logged in. */
export class OidcClient extends RealClient {
  override session(cookies: BrowserCookies, gateway: GatewayContext): KnownSession | undefined {
    const trial = currentTrial();
    const { jwt } = trial.request.identities;
    if (jwt === undefined) return super.session(cookies, gateway);
    const { issuer, clientId } = this.settings;
    const claims = { iss: issuer, aud: clientId, exp: seconds() + 3600, ...jwt };
    trial.claims = claims;
    const idToken = { text: signedToken(claims), claims };
    const granted = { idToken, refreshToken: undefined, lifetime: undefined };
    return { session: grantedSession("trial", granted), claims };
  }
}

/** Opens the client of a policy. */
export function openOidc(settings: OidcSettings): OidcClient {
  return new OidcClient(settings);
}
