import type { Origin } from "../diagnostics/diagnostic.ts";
import type { TcpBackendNode } from "./backends.ts";
import type { PolicyUse } from "./policies.ts";
import type { PortNode } from "./port.ts";
import type { CertificateNode, TlsNode } from "./tls.ts";

/** A port whose connections are forwarded. */
export interface TcpBindNode extends PortNode {
  readonly mode: TcpMode;
  /** Listeners by precedence, as for HTTP; without TLS there is only one, because connections have no server name. */
  readonly listeners: readonly TcpListenerNode[];
}

/**
 * TLS mode of a port whose connections are forwarded; `handshakeTimeout` is in milliseconds. With `terminate`, TLS is
 * terminated for listeners with a certificate and passed through for the others.
 */
export type TcpMode =
  | { readonly kind: "plain" }
  | { readonly kind: "passthrough"; readonly handshakeTimeout: number }
  /** `tls` applies to connections without a server name. */
  | { readonly kind: "terminate"; readonly tls: TlsNode };

/** A listener of such a port. */
export interface TcpListenerNode {
  readonly id: string;
  readonly name: string;
  /** Server names that it serves; `*` for all, and for connections without one. */
  readonly hostname: string;
  /** `undefined` without TLS, or if TLS is passed through to the backends. */
  readonly tls: CertificateNode | undefined;
  /** TLS settings of its own; `undefined` for those of the port. */
  readonly handshake?: TlsNode;
  /** Policies for its connections, before a route is chosen. */
  readonly admission: readonly PolicyUse[];
  readonly routes: readonly TcpRouteNode[];
  /** Routes by server name, in order of precedence. */
  readonly table: readonly { readonly hostname: string; readonly route: string }[];
  readonly origin: Origin;
}

/** A connection route. */
export interface TcpRouteNode {
  readonly id: string;
  readonly name: string;
  /** Authorization, if configured. */
  readonly policies: readonly PolicyUse[];
  readonly backends: readonly TcpBackendNode[];
  readonly origin: Origin;
}
