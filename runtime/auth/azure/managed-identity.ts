import { ExpiringValue } from "../cloud/expiring-value.ts";
import { grantedToken, requestToken } from "../cloud/token-endpoint.ts";

/** Identity of the machine; without any field, the system-assigned one. */
export interface ManagedIdentity {
  readonly clientId?: string;
  readonly objectId?: string;
  readonly resourceId?: string;
}

/** Returns tokens of the machine's identity, from its metadata server (IMDS) or the agent of App Service. */
export function managedIdentityToken(
  scope: string,
  { clientId, objectId, resourceId }: ManagedIdentity,
): ExpiringValue<string> {
  const { IDENTITY_ENDPOINT: agent, IDENTITY_HEADER: secret } = process.env;
  const isAgent = Boolean(agent && secret);
  const metadata = process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST || "http://169.254.169.254";
  const url = new URL(
    isAgent && agent ? agent : `${metadata.replace(/\/$/, "")}/metadata/identity/oauth2/token`,
  );
  const query = {
    "api-version": isAgent ? "2019-08-01" : "2018-02-01",
    resource: scope.replace(/\/\.default$/, ""),
    ...(clientId !== undefined && { client_id: clientId }),
    ...(objectId !== undefined && { object_id: objectId }),
    ...(resourceId !== undefined && { [isAgent ? "mi_res_id" : "msi_res_id"]: resourceId }),
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  const headers = isAgent && secret ? ["x-identity-header", secret] : ["metadata", "true"];
  return new ExpiringValue("token of Azure by managed identity", async () =>
    grantedToken(await requestToken({ method: "GET", url: url.href, headers })),
  );
}
