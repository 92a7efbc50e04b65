import type { CredentialFields } from "../cloud/credential-fields.ts";
import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import { grantedToken, postForm } from "../cloud/token-endpoint.ts";
import { type CredentialSource, readApplicationCredentials } from "./application-credentials.ts";
import { exchangedToken } from "./external-account.ts";
import { metadataAccessToken } from "./metadata-server.ts";
import { serviceAccountToken } from "./service-account.ts";

/**
 * Returns the access token of configured credentials, or else of the gateway's environment, found like Google's own tools
 * do: from the file that GOOGLE_APPLICATION_CREDENTIALS names, or else from the metadata server. Credentials that gcloud
 * stores in the home directory are ignored.
 */
export function accessToken(configured?: CredentialSource): ExpiringValue<string> {
  return new ExpiringValue("access token of Google Cloud", () => fetchAccessToken(configured));
}

async function fetchAccessToken(
  configured: CredentialSource | undefined,
): Promise<Expiring<string>> {
  const credentials = await readApplicationCredentials(process.env, configured);
  if (credentials === undefined) return metadataAccessToken(process.env);
  switch (credentials.kind) {
    case "service_account":
      return serviceAccountToken(credentials.fields);
    case "authorized_user":
      return refreshedToken(credentials.fields);
    case "external_account":
      return exchangedToken(credentials.fields);
  }
}

/** Gets the access token of a user with a refresh token (RFC 6749 6). */
async function refreshedToken(user: CredentialFields): Promise<Expiring<string>> {
  const endpoint = user.optionalText("token_uri") ?? "https://oauth2.googleapis.com/token";
  const response = await postForm(endpoint, {
    grant_type: "refresh_token",
    client_id: user.text("client_id"),
    client_secret: user.text("client_secret"),
    refresh_token: user.text("refresh_token"),
  });
  return grantedToken(response);
}
