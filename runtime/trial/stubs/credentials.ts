import { credentialIn as find } from "../../auth/credentials.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { CredentialKind, CredentialLocation } from "../../http/headers/credential-location.ts";
import { currentTrial } from "../trial.ts";
import { credentialText } from "../trial-credential.ts";

export { restoreCredentials, stripCredential } from "../../auth/credentials.ts";

/** Replaces auth/credentials.ts: places the trial's credential where a policy looks for it. */
export function credentialIn(
  exchange: Exchange,
  location: CredentialLocation,
  kind: CredentialKind,
): string | undefined {
  const { request, shown } = currentTrial();
  const credential = credentialText(request.identities, kind);
  if (credential === undefined) return find(exchange, location, kind);
  if ("expression" in location) return credential;
  if (!shown.has(kind)) show(exchange, location, credential);
  shown.add(kind);
  return find(exchange, location, kind);
}

type ShownLocation = Exclude<CredentialLocation, { readonly expression: unknown }>;

function show(exchange: Exchange, location: ShownLocation, credential: string): void {
  if ("header" in location) {
    exchange.setRequestHeader(location.header, `${location.prefix}${credential}`);
  } else if ("cookie" in location) {
    const others = exchange.header("cookie");
    const own = `${location.cookie}=${credential}`;
    exchange.setRequestHeader("cookie", others === undefined ? own : `${others}; ${own}`);
  } else {
    const { target } = exchange;
    const own = `${encodeURIComponent(location.queryParameter)}=${credential}`;
    exchange.reroute({ target: `${target}${target.includes("?") ? "&" : "?"}${own}` });
  }
}
