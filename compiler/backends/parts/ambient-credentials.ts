import type { AzureAuthConfig } from "../../model/cloud-credentials.ts";

/** Default credentials for AWS services. */
export const AMBIENT_AWS = {
  kind: "aws",
  keys: undefined,
  region: undefined,
  service: undefined,
} as const;

/** Default credentials for Google APIs. */
export const AMBIENT_GCP = { kind: "gcp", token: "access", audience: undefined } as const;

/** Returns the default credentials for Azure AI services, in one of Azure's clouds: `com`, `us` or `cn`. */
export function ambientAzure(cloud: string): AzureAuthConfig {
  const scope = `https://cognitiveservices.azure.${cloud}/.default`;
  return { kind: "azure", scope, source: { kind: "ambient" } };
}
