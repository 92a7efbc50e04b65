import type { AzureAuthConfig } from "../../model/cloud-credentials.ts";

/** What a service of AWS is asked with when nothing else is configured. */
export const AMBIENT_AWS = {
  kind: "aws",
  keys: undefined,
  region: undefined,
  service: undefined,
} as const;

/** The same for an API of Google. */
export const AMBIENT_GCP = { kind: "gcp", token: "access", audience: undefined } as const;

/** The same for an AI service of Azure, in one of its clouds: `com`, `us` or `cn`. */
export function ambientAzure(cloud: string): AzureAuthConfig {
  const scope = `https://cognitiveservices.azure.${cloud}/.default`;
  return { kind: "azure", scope, source: { kind: "ambient" } };
}
