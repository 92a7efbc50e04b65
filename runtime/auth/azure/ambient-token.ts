import type { ExpiringValue } from "../cloud/expiring-value.ts";
import { clientSecretToken } from "./client-secret.ts";
import { managedIdentityToken } from "./managed-identity.ts";
import { workloadIdentityToken } from "./workload-identity.ts";

/**
 * Returns tokens for the gateway's environment: of an application in environment variables, of a workload identity, or of
 * the machine's identity.
 */
export function ambientToken(scope: string): ExpiringValue<string> {
  const { env } = process;
  const { AZURE_TENANT_ID: tenantId, AZURE_CLIENT_ID: clientId } = env;
  const { AZURE_CLIENT_SECRET: clientSecret } = env;
  if (tenantId && clientId && clientSecret) {
    return clientSecretToken({ scope, tenantId, clientId, clientSecret });
  }
  if (env.AZURE_FEDERATED_TOKEN_FILE) return workloadIdentityToken(scope);
  return managedIdentityToken(scope, clientId ? { clientId } : {});
}
