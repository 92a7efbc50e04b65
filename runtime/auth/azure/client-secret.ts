import { ExpiringValue } from "../cloud/expiring-value.ts";
import { entraToken } from "./entra-token.ts";

/** An application of Entra and its secret. */
export interface ClientSecretSettings {
  readonly scope: string;
  readonly tenantId: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Returns tokens of an application with a secret. */
export function clientSecretToken(settings: ClientSecretSettings): ExpiringValue<string> {
  const { scope, tenantId, clientId, clientSecret } = settings;
  return new ExpiringValue("token of Azure", () =>
    entraToken(tenantId, { client_id: clientId, client_secret: clientSecret, scope }),
  );
}
