import type { KeepAliveSettings } from "../../runtime/net/connection-settings.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { CloudAuthConfig } from "./cloud-credentials.ts";
import type { BackendConnection } from "./connections.ts";
import type { HeaderChangesConfig } from "./header-changes.ts";
import type { MountedFile, Text } from "./texts.ts";
import type { TokenExchangeConfig } from "./token-exchange.ts";

/** How a server is reached, whatever is spoken to it, as configured: each part from the most specific place that has it. */
export interface ServerPolicies {
  readonly tls?: BackendTlsConfig;
  readonly auth?: BackendAuthConfig;
  readonly http?: BackendHttpConfig;
  readonly tcp?: BackendTcpConfig;
  readonly tunnel?: TunnelConfig;
  /** What requests to it alone say otherwise. */
  readonly requestHeaders?: BackendHeaders;
  /** What its responses say otherwise. */
  readonly responseHeaders?: BackendHeaders;
}

/** A server that the gateway itself talks to, for a policy. */
export interface ServerConfig {
  /** Scheme, host and port. */
  readonly url: string;
  /** How it is reached; undefined: nothing of it is configured. */
  readonly policies: ServerPolicies | undefined;
  /** The resource that it is. */
  readonly source: Origin;
}

/** `backendTunnel`: the proxy through which a backend is reached. */
export interface TunnelConfig {
  readonly proxy: Text;
  /** How the proxy itself is reached. */
  readonly policies: Pick<ServerPolicies, "tls" | "tcp" | "auth">;
  /** Where the proxy stands. */
  readonly proxyOrigin: Origin;
  readonly origin: Origin;
}

/** Changes to the headers of one backend's messages. */
export interface BackendHeaders extends HeaderChangesConfig {
  readonly origin: Origin;
}

/** `backendTLS`. Paths are as configured. */
export interface BackendTlsConfig {
  readonly cert: string | MountedFile | undefined;
  readonly key: string | MountedFile | undefined;
  /** Where a Gateway says which certificate is shown; absent: it says nothing, or a policy counts before it. */
  readonly certOrigin?: Origin;
  /** Whose certificates are trusted; undefined: those of the system. */
  readonly roots: readonly MountedFile[] | undefined;
  readonly hostname: Text | undefined;
  readonly verification: "full" | "chain" | "none";
  /** What is offered, the most wanted first; requests are made by those of HTTP. */
  readonly alpn: readonly string[] | undefined;
  readonly subjectAltNames: readonly string[] | undefined;
  readonly origin: Origin;
  /** Where the protocols stand. */
  readonly alpnOrigin: Origin;
}

/** `backendAuth`. */
export type BackendAuthConfig = { readonly origin: Origin } & (
  | { readonly kind: "key"; readonly key: Text; readonly keyOrigin: Origin }
  | { readonly kind: "file"; readonly file: MountedFile }
  | { readonly kind: "passthrough" }
  | CloudAuthConfig
  | TokenExchangeConfig
);

/** `http`: times in milliseconds. */
export interface BackendHttpConfig {
  readonly version: "HTTP1" | "HTTP2" | undefined;
  readonly requestTimeout: number | undefined;
  readonly origin: Origin;
}

/** `tcp`: times in milliseconds. */
export interface BackendTcpConfig {
  readonly keepAlive: KeepAliveSettings | undefined;
  readonly connectTimeout: number | undefined;
  readonly origin: Origin;
}

/** A backend of which nothing is configured; milliseconds. */
export const PLAIN_CONNECTION: BackendConnection = { connectTimeout: 10_000, isPassthrough: false };
