import type { Expiring } from "../cloud/expiring-value.ts";
import { grantedToken, postForm } from "../cloud/token-endpoint.ts";

/** Requests a token for a tenant's application. `fields`: its id, and its secret or assertion. */
export async function entraToken(
  tenant: string,
  fields: Readonly<Record<string, string>>,
): Promise<Expiring<string>> {
  const authority = process.env.AZURE_AUTHORITY_HOST || "https://login.microsoftonline.com";
  const url = `${authority.replace(/\/$/, "")}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  return grantedToken(await postForm(url, { grant_type: "client_credentials", ...fields }));
}
