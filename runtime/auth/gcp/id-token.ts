import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import { type CredentialSource, readApplicationCredentials } from "./application-credentials.ts";
import { impersonatedIdToken } from "./external-account.ts";
import { metadataIdToken } from "./metadata-server.ts";
import { serviceAccountIdToken } from "./service-account.ts";

/** Returns the identity token of configured credentials, or else of the gateway's environment, for one audience. */
export function idToken(audience: string, configured?: CredentialSource): ExpiringValue<string> {
  return new ExpiringValue("identity token of Google Cloud", () =>
    fetchIdToken(audience, configured),
  );
}

async function fetchIdToken(
  audience: string,
  configured: CredentialSource | undefined,
): Promise<Expiring<string>> {
  const credentials = await readApplicationCredentials(process.env, configured);
  if (credentials === undefined) return metadataIdToken(process.env, audience);
  switch (credentials.kind) {
    case "service_account":
      return serviceAccountIdToken(credentials.fields, audience);
    case "authorized_user":
      throw new Error("user credentials do not support identity tokens for an audience");
    case "external_account":
      return impersonatedIdToken(credentials.fields, audience);
  }
}
