import { readFile } from "node:fs/promises";
import { env } from "../../process/startup-values.ts";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import { entraToken } from "./entra-token.ts";
import { managedIdentityToken } from "./managed-identity.ts";

/** An application of Entra and its secret. */
interface ClientSecretSettings {
  readonly scope: string;
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

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

/** Returns tokens of an application with a secret. */
function clientSecretToken(settings: ClientSecretSettings): ExpiringValue<string> {
  const { scope, tenantId, clientId, clientSecret } = settings;
  return new ExpiringValue("token of Azure", () =>
    entraToken(tenantId, { client_id: clientId, client_secret: clientSecret, scope }),
  );
}

/**
 * Returns tokens of a workload identity, which another issuer (a pod's service account) vouches for, as the environment
 * configures it. Throws StartupError if it does not.
 */
function workloadIdentityToken(scope: string): ExpiringValue<string> {
  const file = env("AZURE_FEDERATED_TOKEN_FILE");
  const tenant = env("AZURE_TENANT_ID");
  const client = env("AZURE_CLIENT_ID");
  return new ExpiringValue("token of Azure by workload identity", async () =>
    entraToken(tenant, {
      client_id: client,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: (await readFile(file, "utf8")).trim(),
      scope,
    }),
  );
}
