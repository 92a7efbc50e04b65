import type { Json } from "../../model/json.ts";
import { choice, json, map, type ObjectValue, shortText } from "../../schema/schema.ts";
import { bothForms } from "../../schema/two-forms.ts";
import type { IdentityProvider } from "./identity-providers.ts";

/** Schemas of `resourceMetadata`. */
export const resourceMetadata = bothForms(
  map(json, {
    description:
      "Members of the protected resource metadata (RFC 9728); camelCase keys are converted to snake_case.",
  }),
  { file: { maxProperties: 64 } },
);

/** Schemas of `clientId`. */
export const clientId = bothForms(
  shortText(
    "Client id that the gateway gives to clients that register, for a provider where they cannot: authentik and Entra require it. Its redirect URIs are those of the provider.",
  ),
  { file: { readAtStart: true } },
);

/** Fields of OAuth metadata in manifests. */
export const kubernetesOAuthFields = {
  resourceMetadata: resourceMetadata.manifest,
  provider: choice("An identity provider whose metadata is adapted.", [
    ...(["Auth0", "Keycloak", "Okta", "Descope", "Authentik", "Entra"] as const),
    ...(["IdpKind1", "IdpKind2"] as const),
  ]),
  clientId: clientId.manifest,
};

/** OAuth metadata of an MCP endpoint, as configured. */
export interface OAuthConfig {
  readonly provider: IdentityProvider | undefined;
  readonly resourceMetadata: Readonly<Record<string, Json>>;
  readonly clientId: string | undefined;
}

/** Reads the fields of OAuth metadata in manifests. */
export function readKubernetesOAuth({
  provider,
  resourceMetadata: members = {},
  clientId: id,
}: ObjectValue<typeof kubernetesOAuthFields, never>): OAuthConfig {
  return {
    provider: KUBERNETES_PROVIDERS[provider ?? ""],
    resourceMetadata: members,
    clientId: id,
  };
}

/** Names of the identity providers in manifests, including the specification's vendor-neutral ones. */
const KUBERNETES_PROVIDERS: Readonly<Record<string, IdentityProvider>> = {
  Auth0: "auth0",
  IdpKind1: "auth0",
  Keycloak: "keycloak",
  IdpKind2: "keycloak",
  Okta: "okta",
  Descope: "descope",
  Authentik: "authentik",
  Entra: "entra",
};
