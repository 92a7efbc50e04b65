import type { ExpiringValue } from "../cloud/expiring-value.ts";
import { clientSecretToken } from "./client-secret.ts";
import { managedIdentityToken } from "./managed-identity.ts";
import { workloadIdentityToken } from "./workload-identity.ts";

/** Tokens of whatever the gateway runs on: an application of the environment, a workload's identity, the machine's. */
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
