import { readFile } from "node:fs/promises";
import { env } from "../../process/startup-values.ts";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import { entraToken } from "./entra-token.ts";

/**
 * Returns tokens of a workload identity, which another issuer (a pod's service account) vouches for, as the environment
 * configures it. Throws StartupError if it does not.
 */
export function workloadIdentityToken(scope: string): ExpiringValue<string> {
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
