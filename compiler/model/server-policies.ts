import type { SentPlace } from "../../runtime/auth/sent-credential.ts";
import type { KeepAlive } from "../../runtime/net/connection-settings.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CloudAuthConfig } from "./cloud-credentials.ts";
import type { BackendConnection } from "./connections.ts";
import type { HeaderChangesConfig } from "./header-changes.ts";
import type { IdentityUse } from "./identity-use.ts";
import type { SentCredentialConfig } from "./sent-credentials.ts";
import type { AddressOrName } from "./server-address.ts";
import type { MountedFile, Text } from "./texts.ts";
import type {
  ClientCredentialsConfig,
  SignedTokenConfig,
  TokenExchangeConfig,
} from "./token-exchange.ts";
import type { ConnectionUseConfig } from "./user-connections.ts";

/**
 * Connection settings of a server for any protocol, as configured: each part from the most specific place that sets it.
 */
export interface ServerPolicies {
  readonly tls?: BackendTlsConfig;
  readonly auth?: BackendAuthConfig;
  readonly http?: BackendHttpConfig;
  readonly tcp?: BackendTcpConfig;
  readonly tunnel?: TunnelConfig;
  /** Header changes for requests to it only. */
  readonly requestHeaders?: BackendHeaders;
  /** Header changes for its responses only. */
  readonly responseHeaders?: BackendHeaders;
}

/** A server that the gateway itself calls for a policy. */
export interface ServerConfig {
  /** Scheme, host and port. */
  readonly url: string;
  /** Connection settings; `undefined` if none are configured. */
  readonly policies: ServerPolicies | undefined;
  /** Its resource. */
  readonly source: Origin;
}

/** `backendTunnel`: the proxy for connections to a backend. */
export interface TunnelConfig {
  readonly proxy: AddressOrName;
  /** Connection settings of the proxy itself. */
  readonly policies: Pick<ServerPolicies, "tls" | "tcp" | "auth">;
  /** Place of the proxy. */
  readonly proxyOrigin: Origin;
  readonly origin: Origin;
}

/** Header changes for the messages of one backend. */
export interface BackendHeaders extends HeaderChangesConfig {
  readonly origin: Origin;
}

/** `backendTLS`. Paths are as configured. */
export interface BackendTlsConfig {
  readonly cert: string | MountedFile | undefined;
  readonly key: string | MountedFile | undefined;
  /** Place where a Gateway sets the client certificate; `undefined` if it does not, or if a policy overrides it. */
  readonly certOrigin?: Origin;
  /** Trusted certificates; `undefined` for those of the system. */
  readonly roots: readonly MountedFile[] | undefined;
  readonly hostname: Text | undefined;
  readonly verification: "full" | "chain" | "none";
  /** Offered protocols by preference; requests only use those of HTTP. */
  readonly alpn: readonly string[] | undefined;
  readonly subjectAltNames: readonly string[] | undefined;
  /** Groups of the key exchange that are offered, by OpenSSL's names; absent for its defaults. */
  readonly keyExchangeGroups?: readonly string[] | undefined;
  /** The gateway's own identity instead of `cert`, `key` and `roots`; absent with files. */
  readonly identity?: IdentityUse | undefined;
  readonly origin: Origin;
  /** Place of the protocols. */
  readonly alpnOrigin: Origin;
}

/** `backendAuth`. */
export type BackendAuthConfig = {
  readonly origin: Origin;
  /** Credentials in addition to the main one; absent if there are none. */
  readonly more?: readonly SentCredentialConfig[] | undefined;
} & (
  | ({ readonly kind: "key"; readonly key: Text; readonly keyOrigin: Origin } & Placed)
  | ({ readonly kind: "file"; readonly file: MountedFile; readonly fileOrigin: Origin } & Placed)
  | ({ readonly kind: "passthrough" } & Placed)
  | { readonly kind: "onlyMore" }
  | CloudAuthConfig
  | TokenExchangeConfig<ServerPolicies>
  | ClientCredentialsConfig<ServerPolicies>
  | SignedTokenConfig
  | ConnectionUseConfig
);

/** Place of a credential; `Authorization: Bearer` if absent. */
interface Placed {
  readonly place?: SentPlace | undefined;
}

/** `http`; times are in milliseconds. */
export interface BackendHttpConfig {
  readonly version: "HTTP1" | "HTTP2" | undefined;
  readonly requestTimeout: number | undefined;
  readonly origin: Origin;
}

/** `tcp`; times are in milliseconds. */
export interface BackendTcpConfig {
  readonly keepAlive: KeepAlive | undefined;
  readonly connectTimeout: number | undefined;
  readonly origin: Origin;
}

/** Default connection settings; times are in milliseconds. */
export const PLAIN_CONNECTION: BackendConnection = { connectTimeout: 10_000, isPassthrough: false };
