import { type Expiring, ExpiringValue } from "../cloud/expiring-value.ts";
import { readApplicationCredentials } from "./application-credentials.ts";
import { refreshedToken } from "./authorized-user.ts";
import { exchangedToken } from "./external-account.ts";
import { metadataAccessToken } from "./metadata-server.ts";
import { serviceAccountToken } from "./service-account.ts";

/**
 * The access token of whatever the gateway runs as, found as Google's own tools do it: the file that
 * GOOGLE_APPLICATION_CREDENTIALS names, else the metadata server. What gcloud has stored at home is not looked at.
 */
export function accessToken(): ExpiringValue<string> {
  return new ExpiringValue("access token of Google Cloud", fetchAccessToken);
}

async function fetchAccessToken(): Promise<Expiring<string>> {
  const credentials = await readApplicationCredentials(process.env);
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
