import type { ConfiguredClient } from "../connections/connection-client.ts";
import type { OAuthSettings } from "../oauth/metadata.ts";
import { RegistrationCount } from "./registration-count.ts";

/** The gateway as the authorization server of MCP clients, in front of a provider where it is the only client. */
export interface FrontSettings extends OAuthSettings, ClientBounds {
  /** URL of the authorization server, without a slash at its end; its endpoints are below. */
  readonly url: string;
  /** The gateway's client at the provider. */
  readonly client: ConfiguredClient;
  /** Scopes that clients may request, and that are requested for clients that name none. */
  readonly scopes: readonly string[];
  /** Resources for which clients may request tokens, besides those of the gateway's own host. */
  readonly resources: readonly string[];
  /** Parameter `audience` for the provider's authorization endpoint; absent if it needs none. */
  readonly audience?: string;
  /** Whether the provider gets the parameter `resource` of clients (RFC 8707). */
  readonly sendsResource: boolean;
  /** Maximum number of registrations of clients in an hour; 0 if none can register. */
  readonly registrationsPerHour: number;
  /** Time in milliseconds after which a client has to register again. */
  readonly registrationLifetime: number;
}

/** An authorization server that was opened. */
export interface Front extends FrontSettings {
  readonly registrations: RegistrationCount;
}

/** Opens the authorization server of a route. */
export function openFront(settings: FrontSettings): Front {
  const { url, registrationsPerHour } = settings;
  const registrations = new RegistrationCount(`registrations at ${url}`, registrationsPerHour);
  return { ...settings, registrations };
}

/** Clients that are accepted. `*` at the end of a string replaces any rest. */
export interface ClientBounds {
  /** Redirect URIs; loopback ones without a port have any port (RFC 8252 7.3). */
  readonly redirectUris: readonly string[];
  /** Names of clients; absent if any name is accepted. */
  readonly clientNames?: readonly string[];
  /** URLs of documents about clients (OAuth Client ID Metadata Document). */
  readonly clientDocuments: readonly string[];
}

/** Maximum characters of a redirect URI, and of the URL of a document. */
export const MAX_CLIENT_URL = 1_024;
