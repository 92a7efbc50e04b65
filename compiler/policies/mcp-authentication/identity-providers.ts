import { type IssuerUrlName, issuerUrls } from "../../../runtime/contents/issuer-urls.ts";
import type { Text } from "../../model/texts.ts";

/** Identity providers whose metadata must be adapted for MCP clients. */
export type IdentityProvider = (typeof IDENTITY_PROVIDERS)[number];

/** Names of the identity providers in a file; manifests spell them with a capital. */
export const IDENTITY_PROVIDERS = [
  ...(["auth0", "keycloak", "okta", "descope", "authentik", "entra"] as const),
];

/** Properties of an identity provider that MCP clients depend on. */
export interface ProviderTraits {
  /** Name of the product. */
  readonly title: string;
  readonly keys: IssuerUrl;
  /** Whether clients must name the API by a parameter `audience`. */
  readonly takesAudience?: true;
  /** URL where clients register; absent if none can. */
  readonly registration?: IssuerUrl;
  /** Whether it refuses requests with the parameter `resource`, which MCP clients send. */
  readonly refusesResource?: true;
}

/** A URL that depends on the issuer: a path below it, or one that the runtime computes. */
export type IssuerUrl = `/${string}` | IssuerUrlName;

/** Identity providers by name. */
export const identityProviders: Readonly<Record<IdentityProvider, ProviderTraits>> = {
  auth0: { title: "Auth0", keys: "/.well-known/jwks.json", takesAudience: true },
  keycloak: {
    title: "Keycloak",
    keys: "/protocol/openid-connect/certs",
    registration: "/clients-registrations/openid-connect",
  },
  okta: {
    title: "Okta",
    keys: "/v1/keys",
    takesAudience: true,
    registration: "oktaRegistration",
  },
  descope: { title: "Descope", keys: "descopeKeys", registration: "descopeRegistration" },
  authentik: { title: "authentik", keys: "/jwks/" },
  entra: { title: "Microsoft Entra", keys: "entraKeys", refusesResource: true },
};

/** Returns a URL for an issuer; `undefined` if that needs another issuer. */
export function urlOf(issuer: Text, url: IssuerUrl): Text | undefined {
  if (isPath(url)) return withPath(issuer, url);
  return typeof issuer === "string" ? issuerUrls[url](issuer) : { ...issuer, url };
}

function isPath(url: IssuerUrl): url is `/${string}` {
  return url.startsWith("/");
}

function withPath(issuer: Text, path: string): Text {
  if (typeof issuer === "string") return `${issuer.replace(/\/$/, "")}${path}`;
  return { kind: "env", parts: [...issuer.parts, path] };
}
