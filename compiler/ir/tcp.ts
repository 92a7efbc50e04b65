import type { Origin } from "../diagnostics/diagnostic.ts";
import type { BackendConnection } from "./backends.ts";
import type { PolicyUse } from "./policies.ts";
import type { CertificateFiles, TlsNode } from "./program.ts";
import type { Text } from "./texts.ts";

/** One port whose bytes are passed on. */
export interface TcpBindNode {
  readonly port: number;
  readonly origin: Origin;
  readonly mode: TcpMode;
  /** As those of HTTP; one alone without TLS, which names nobody. */
  readonly listeners: readonly TcpListenerNode[];
}

/** What becomes of TLS on a port whose bytes are passed on; `handshakeTimeout` is in milliseconds. */
export type TcpMode =
  | { readonly kind: "plain" }
  | { readonly kind: "passthrough"; readonly handshakeTimeout: number }
  | { readonly kind: "terminate"; readonly tls: TlsNode };

/** A listener of such a port. */
export interface TcpListenerNode {
  readonly id: string;
  readonly name: string;
  /** What server names it answers for; `*`: every one, and none. */
  readonly hostname: string;
  readonly tls: CertificateFiles | undefined;
  readonly routes: readonly TcpRouteNode[];
  /** Which route a server name leads to, in order of precedence. */
  readonly table: readonly { readonly hostname: string; readonly route: string }[];
  readonly origin: Origin;
}

/** A route of connections. */
export interface TcpRouteNode {
  readonly id: string;
  readonly name: string;
  /** Authorization, if there is one. */
  readonly policies: readonly PolicyUse[];
  readonly backends: readonly TcpBackendNode[];
  readonly origin: Origin;
}

/** Where connections go. */
export type TcpBackendNode = { readonly connection: TcpConnection; readonly origin: Origin } & (
  | {
      readonly kind: "host";
      /** `host:port` */
      readonly address: Text;
      readonly weight: number;
    }
  | {
      readonly kind: "dynamic";
      readonly port: number;
      readonly allowPrivate: readonly string[];
    }
);

/** How they are passed on; times in milliseconds. */
export interface TcpConnection
  extends Pick<BackendConnection, "connectTimeout" | "keepAlive" | "tls"> {
  /** What is offered in ALPN; undefined: nothing. */
  readonly alpn?: readonly string[];
}
