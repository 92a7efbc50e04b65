import type { Origin } from "../diagnostics/diagnostic.ts";
import type { TcpBackendNode } from "./backends.ts";
import type { PolicyUse } from "./policies.ts";
import type { PortNode } from "./port.ts";
import type { CertificateFiles, TlsNode } from "./tls.ts";

/** One port whose bytes are passed on. */
export interface TcpBindNode extends PortNode {
  readonly mode: TcpMode;
  /** As those of HTTP; one alone without TLS, which names nobody. */
  readonly listeners: readonly TcpListenerNode[];
}

/**
 * What becomes of TLS on a port whose bytes are passed on; `handshakeTimeout` is in milliseconds. With `terminate` TLS ends
 * for the listeners that have a certificate, and goes on to the backends for the others.
 */
export type TcpMode =
  | { readonly kind: "plain" }
  | { readonly kind: "passthrough"; readonly handshakeTimeout: number }
  /** `tls`: of connections that name no server. */
  | { readonly kind: "terminate"; readonly tls: TlsNode };

/** A listener of such a port. */
export interface TcpListenerNode {
  readonly id: string;
  readonly name: string;
  /** What server names it answers for; `*`: every one, and none. */
  readonly hostname: string;
  /** Undefined: there is no TLS, or it goes on to the backends. */
  readonly tls: CertificateFiles | undefined;
  /** TLS of its own; absent: as the port has it. */
  readonly handshake?: TlsNode;
  /** What decides about its connections, before there is a route. */
  readonly admission: readonly PolicyUse[];
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
