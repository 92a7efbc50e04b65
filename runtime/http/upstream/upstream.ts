import type { KeepAlive } from "../../net/connection-settings.ts";
import type { Lookup, OpenTunnel } from "../../net/connector.ts";
import type { PodAddress } from "../../net/service-endpoints.ts";
import type { Borrower } from "../../net/socket-reads.ts";
import type { UpstreamTlsSettings } from "../../tls/upstream-tls.ts";
import type { BodySource } from "../body/body.ts";
import type { Exchange } from "../exchange.ts";
import type { HeaderModifier } from "../headers/header-modifier.ts";
import type { RequestTrailers } from "../headers/trailers.ts";
import type { ReceivedFields } from "../http1/received-fields.ts";
import type { Credential } from "./credential-file.ts";

/** A destination that requests are sent to over pooled connections. */
export interface Upstream {
  /** `host:port`, or `unix:/run/agent.sock`, for logs. */
  readonly name: string;
  /** Scheme, host and port of the destination. */
  readonly origin: string;
  /** Host of its requests, with the port unless it is the scheme's default. */
  readonly authority: string;
  /** Whether requests keep the client's host: by a policy, or because an IP address or a socket has no name. */
  readonly keepsHost: boolean;
  /** Path of the destination's URL (`/mcp`), or `/`. */
  readonly path: string;
  /** Whether it supports trailers: requests then have `te: trailers` if their client's do. */
  readonly takesTrailers: boolean;
  /** Prefix of the paths of forwarded requests: `/base`, or empty. */
  readonly basePath: string;
  /** Sends one request. The handler gets a head, data and an end, or one error; nothing after `abort`. */
  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest;
  /** Sends a request with formatted fields. Absent if the upstream changes fields or does not use HTTP/1.1. */
  sendLines?(call: LinesCall, handler: UpstreamHandler): UpstreamRequest;
  /** Requests another protocol with a request without body; over HTTP/1.1, whatever the pool speaks. */
  upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest;
  /** Closes the pool once its last request has ended. */
  close(): void;
}

/** Changes to the headers of one upstream's messages; none if absent. */
export interface HeaderChanges {
  readonly requestHeaders?: HeaderModifier;
  readonly responseHeaders?: HeaderModifier;
}

/** Complete settings of an upstream: nothing is defaulted at run time. */
export interface UpstreamSettings extends HeaderChanges {
  /** `http://` or `https://` with host, optional port and optional path; `unix:` with the path of a socket. */
  readonly url: string;
  /** The one server to connect to, of all that the name stands for; any if absent. */
  readonly endpoint?: PodAddress;
  /** Milliseconds to connect. */
  readonly connectTimeout: number;
  /** The system's settings if absent. */
  readonly keepAlive?: KeepAlive;
  /** Connects through a proxy (CONNECT), see `throughProxy`; directly if absent. */
  readonly tunnel?: ProxyTunnel;
  /** Verification of an `https://` destination; by the system's authorities and its host name if absent. */
  readonly tls?: UpstreamTlsSettings;
  /**
   * `Http2Upstream` (by ALPN or prior knowledge) or `NegotiatedUpstream` (the version that ALPN agrees on); HTTP/1.1 if absent.
   * A class instead of a name, so that bundles contain only the versions that their gateway uses.
   */
  readonly version?: UpstreamClass;
  /** Milliseconds from sending a request to the head of its response; no limit if absent. */
  readonly requestTimeout?: number;
  /** Whether requests keep the client's host; if absent, only if the destination has no name. */
  readonly keepsHost?: boolean;
  /** Name in metrics; host and port if absent. */
  readonly countedAs?: string;
  /** Value of Authorization in every request, instead of the client's; a file's value may change. */
  readonly authorization?: string | Credential;
  /** Wraps the upstream to change its messages. */
  readonly messages?: (server: Upstream) => Upstream;
  /** Wraps the upstream to decide whether it gets a request. */
  readonly guard?: (server: Upstream) => Upstream;
  /** Adds the gateway's credentials in another way. */
  readonly credential?: UpstreamCredential;
  /** Wraps the upstream so that requests carry the tokens of their users. */
  readonly users?: (server: Upstream) => Upstream;
  /** Whether the credential depends on the body, which is then buffered before the request is sent. */
  readonly signsBody?: boolean;
}

/** An implementation of one version of HTTP. */
export type UpstreamClass = new (
  settings: UpstreamSettings,
  lookup: Lookup | undefined,
) => Upstream;

/** A proxy with the function that opens tunnels through it. The data identifies connections that can be shared. */
export interface ProxyTunnel extends ProxySettings {
  readonly open: () => OpenTunnel;
}

/** Settings of a proxy that opens tunnels. */
export interface ProxySettings {
  /** URL of the proxy itself: `http://` or `https://`, with host and port. */
  readonly url: string;
  /** Milliseconds to connect, and as much to its response. */
  readonly connectTimeout: number;
  /** The system's settings if absent. */
  readonly keepAlive?: KeepAlive;
  /** Verification of an `https://` proxy. */
  readonly tls?: UpstreamTlsSettings;
  /** Value of Proxy-Authorization, or the path of a file with it; none if absent. */
  readonly authorization?: string;
  readonly authorizationFile?: string;
}

/** Adds credentials to a request that is otherwise complete. Throws or rejects if there are no credentials. */
export type UpstreamCredential = (call: CompleteCall) => void | Promise<void>;

/** A copy of a request for its credentials, which may also change the target. */
export interface CompleteCall extends UpstreamCall {
  path: string;
}

/** One request to an upstream. */
export interface UpstreamCall {
  readonly method: string;
  /** Target in origin form. */
  readonly path: string;
  /** Flat header list with Host, without hop-by-hop headers and Content-Length: framing follows from the body. */
  readonly headers: string[];
  readonly body: string | Uint8Array | BodySource | null;
  /** The exchange that causes the call; absent for calls of the gateway itself. */
  readonly exchange?: Exchange;
  /** Filter of its trailers: code that changes headers must record their names there. */
  readonly trailers?: RequestTrailers | undefined;
}

/** A request with formatted fields. */
export interface LinesCall {
  readonly method: string;
  /** Target in origin form. */
  readonly path: string;
  /** Lines with their line breaks, without hop-by-hop headers and Content-Length, but with Host. */
  readonly lines: string;
  readonly body: UpstreamCall["body"];
  /** Bytes of a string body; absent if they were not counted. */
  readonly length?: number | undefined;
}

/** Receives one response. */
export interface UpstreamHandler {
  /** Receives the head; `headers` is a flat list, hop-by-hop headers included. Interim (1xx) responses are not passed on. */
  onHead(status: number, headers: readonly string[]): void;
  /** Receives the head instead of `onHead` if it was received over HTTP/1.1, to forward it. Optional. */
  onFields?(status: number, fields: ReceivedFields): void;
  /** Receives a piece of the body. Returns false to pause until `UpstreamRequest.resume`. */
  onData(chunk: Buffer): boolean;
  /** The connection that gets all pieces during `onData`. If absent, some of their bytes may be kept. */
  readonly borrower?: Borrower | undefined;
  /** Receives the end. `trailers`: flat list of fields as received (RFC 9110 6.5); `undefined` without any. */
  onEnd(trailers?: readonly string[]): void;
  /** The call failed before or during the response. */
  onError(failure: UpstreamFailure): void;
}

/** Receives the response to a request for another protocol: a regular one, or the switch. */
export interface UpgradeHandler extends UpstreamHandler {
  /** The upstream has switched: from now on, `onData` and `onEnd` are about raw bytes. `headers` are those of its 101. */
  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void;
}

/** The sending side to an upstream that has left HTTP. */
export interface UpstreamTunnel {
  /** Returns false if the caller should wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  /** Called each time a full buffer was emptied. */
  onDrain(listener: () => void): void;
  end(): void;
}

/**
 * Why an upstream call failed. It determines the response to the client (503, 504, 502; 403 if it is forbidden, 401 without a
 * token for it).
 */
export interface UpstreamFailure {
  readonly kind: "connect" | "timeout" | "protocol" | "closed";
  /** Whether the client may not choose this destination. */
  readonly isForbidden?: true;
  /** Whether the rules of the upstream forbid it: 403. */
  readonly isDenied?: true;
  /** Whether the client's token cannot be exchanged for one of the backend: 401. */
  readonly isUnauthorized?: true;
  /** Whether the request is the cause, not the server: it cannot be sent, or its client has left. */
  readonly isOfRequest?: true;
  /**
   * Set if nothing of the request was sent: its whole body, so that another server can get it. If absent, the request may have
   * been sent.
   */
  readonly unsent?: { readonly body: UpstreamCall["body"] };
  /** For the log only, never for a client. */
  readonly detail: string;
}

/** Why a request is aborted: its upstream took too long, or its response causes a retry. */
export type AbortReason = "timeout" | "discarded";

/** A request in flight. */
export interface UpstreamRequest {
  /**
   * Aborts the request and closes its connection at once. Can be called more than once. `reason`: absent if the response is no
   * longer wanted.
   */
  abort(reason?: AbortReason): void;
  resume(): void;
}
