import type { JsonObject } from "../../cel/variables.ts";
import { remoteDocument } from "../../http/upstream/remote-document.ts";
import type { GatewayContext } from "../../process/gateway-context.ts";
import { MINUTE } from "../../process/units.ts";
import { metadataUrls } from "../oauth/well-known.ts";

/** An authorization server, as its metadata describes it (RFC 8414). */
export interface AuthorizationServer {
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly registrationEndpoint?: string;
  readonly revocationEndpoint?: string;
  /** Whether its responses name it (RFC 9207). */
  readonly namesIssuer: boolean;
  /** Whether client ids may be URLs of documents. */
  readonly takesClientDocuments: boolean;
  /** Authentication methods of its token endpoint; empty if it names none. */
  readonly methods: readonly string[];
  readonly scopes: readonly string[];
}

/** A resource of users, and its authorization server. */
export interface DiscoveredServer {
  readonly server: AuthorizationServer;
  /** Scopes that the resource names. */
  readonly scopes: readonly string[];
}

/**
 * Finds the authorization server of a resource: the configured one, or the first that the resource's metadata names (RFC 9728).
 * Throws an Error that says what failed.
 */
export async function discoveredServer(
  resource: string,
  issuer: string | undefined,
  gateway: GatewayContext,
): Promise<DiscoveredServer> {
  if (issuer !== undefined) return { server: await serverOf(issuer, gateway), scopes: [] };
  const { origin, pathname } = new URL(resource);
  const path = pathname === "/" ? "" : pathname;
  const document = await documentOf(gateway, {
    name: `resource metadata of ${resource}`,
    what: "protected resource metadata",
    urls: [...new Set([`${origin}${WELL_KNOWN}${path}`, `${origin}${WELL_KNOWN}`])],
    accept: (found) => {
      if (!covers(found.resource, resource)) throw new Error("it describes another resource");
      if (strings(found.authorization_servers)[0] === undefined)
        throw new Error("it names no authorization server");
    },
  });
  const [first = ""] = strings(document.authorization_servers);
  return { server: await serverOf(first, gateway), scopes: strings(document.scopes_supported) };
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** Whether the resource of metadata is that of the configuration, or contains it. */
function covers(found: unknown, resource: string): boolean {
  if (typeof found !== "string" || !URL.canParse(found)) return false;
  const [outer, inner] = [new URL(found), new URL(resource)];
  const below = (path: string) => `${path.replace(/\/$/, "")}/`;
  return outer.origin === inner.origin && below(inner.pathname).startsWith(below(outer.pathname));
}

async function serverOf(issuer: string, gateway: GatewayContext): Promise<AuthorizationServer> {
  if (!isSafe(issuer)) throw new Error("the authorization server has no https URL");
  const document = await documentOf(gateway, {
    name: `metadata of ${issuer} for connections`,
    what: "authorization server metadata",
    urls: metadataUrls(issuer),
    accept: (found) => {
      // Metadata of another issuer must not be used (RFC 8414 3.3).
      if (found.issuer !== issuer) throw new Error("it names another issuer");
      if (!strings(found.code_challenge_methods_supported).includes("S256"))
        throw new Error("it does not support PKCE with S256");
      for (const name of ["authorization_endpoint", "token_endpoint"])
        if (addressIn(found, name) === undefined) throw new Error(`it has no ${name}`);
    },
  });
  const registrationEndpoint = addressIn(document, "registration_endpoint");
  const revocationEndpoint = addressIn(document, "revocation_endpoint");
  return {
    issuer,
    authorizationEndpoint: addressIn(document, "authorization_endpoint") ?? "",
    tokenEndpoint: addressIn(document, "token_endpoint") ?? "",
    ...(registrationEndpoint !== undefined && { registrationEndpoint }),
    ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    namesIssuer: document.authorization_response_iss_parameter_supported === true,
    takesClientDocuments: document.client_id_metadata_document_supported === true,
    methods: strings(document.token_endpoint_auth_methods_supported),
    scopes: strings(document.scopes_supported),
  };
}

async function documentOf(
  gateway: GatewayContext,
  settings: Parameters<typeof remoteDocument>[1],
): Promise<JsonObject> {
  const remote = remoteDocument(gateway, settings);
  const document = remote.current(MAX_AGE) ?? (await remote.renewed());
  if (document === undefined) throw new Error(`no ${settings.what}`);
  return document;
}

const MAX_AGE = 5 * MINUTE;

/** Returns the URL of an endpoint, to which tokens may be sent; `undefined` if there is none. */
export function addressIn(document: JsonObject, name: string): string | undefined {
  const value = document[name];
  return typeof value === "string" && isSafe(value) ? value : undefined;
}

/** Whether tokens may be sent there: over TLS, or within the machine. */
function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  const isLocal = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isLocal);
}

/** Returns the strings of a list; none if it is not a list. */
export function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
