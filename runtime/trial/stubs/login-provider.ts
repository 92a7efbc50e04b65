import type { LoginProvider } from "../../auth/oidc/provider.ts";
import { inlineKeys } from "./key-source.ts";

export { configuredProvider, discoveryUrl, type LoginProvider } from "../../auth/oidc/provider.ts";

/** Replaces auth/oidc/provider.ts: derives endpoints from the issuer, without discovery. */
export function discoveredProvider(issuer: string): LoginProvider {
  const base = issuer.replace(/\/$/, "");
  const endpoints = {
    authorizationEndpoint: `${base}/authorize`,
    tokenEndpoint: `${base}/token`,
    tokenEndpointAuth: "clientSecretBasic",
  } as const;
  return { endpoints: async () => endpoints, keys: inlineKeys() };
}
