import type { KeepAliveSettings } from "../../net/connection-settings.ts";
import type { Lookup, OpenTunnel } from "../../net/connector.ts";
import type { PodAddress } from "../../net/service-endpoints.ts";
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
  /** What a request to it says in Host: the host, with the port unless it is the scheme's own. */
  readonly authority: string;
  /** True when it is asked by the name that the client used: a policy, or an IP address or a socket, which are no names. */
  readonly keepsHost: boolean;
  /** The path the destination's URL carries (`/mcp`), or `/`. */
  readonly path: string;
  /** It takes part in trailers: requests to it say so (`te: trailers`) where their client does. */
  readonly takesTrailers: boolean;
  /** What is put before the paths of requests that are passed on: `/base`, or nothing. */
  readonly basePath: string;
  /** Sends one request. The handler gets a head, data and an end, or one error; nothing after `abort`. */
  send(call: UpstreamCall, handler: UpstreamHandler): UpstreamRequest;
  /** Sends one whose fields go on as lines. Absent: it has something to do with them, or is not asked in HTTP/1.1. */
  sendLines?(call: LinesCall, handler: UpstreamHandler): UpstreamRequest;
  /** Asks for another protocol with a request that has no body; over HTTP/1.1, whatever the pool speaks. */
  upgrade(call: UpstreamCall, protocol: string, handler: UpgradeHandler): UpstreamRequest;
  /** Ends the pool when its last request has ended. */
  close(): void;
}

/** What is changed of the messages of one upstream; absent: nothing. */
export interface HeaderChanges {
  readonly requestHeaders?: HeaderModifier;
  readonly responseHeaders?: HeaderModifier;
}

/** Complete settings of an upstream: nothing is defaulted at run time. */
export interface UpstreamSettings extends HeaderChanges {
  /** `http://` or `https://` with host, optional port and optional path; `unix:` with the path of a socket. */
  readonly url: string;
  /** Of all servers that its name stands for this one; absent: any. */
  readonly endpoint?: PodAddress;
  /** Milliseconds to connect. */
  readonly connectTimeout: number;
  /** Absent: the system's. */
  readonly keepAlive?: KeepAliveSettings;
  /** The proxy through which it is reached (CONNECT), see `throughProxy`. If absent, it is reached directly. */
  readonly tunnel?: ProxyTunnel;
  /** How an `https://` destination is known; absent: by the authorities of the system and its host's name. */
  readonly tls?: UpstreamTlsSettings;
  /**
   * `Http2Upstream` (by ALPN or prior knowledge) or `NegotiatedUpstream` (the version that ALPN agrees on). If absent, HTTP/1.1.
   * A class instead of a name: bundles contain only the versions that their gateway uses.
   */
  readonly version?: UpstreamClass;
  /** Milliseconds from sending a request to the head of its response; absent: no limit. */
  readonly requestTimeout?: number;
  /** It is asked by the name that the client used; absent: unless it has a name of its own. */
  readonly keepsHost?: boolean;
  /** What metrics call it; absent: its host and port. */
  readonly countedAs?: string;
  /** What every request says in Authorization, in the place of the client's; it may change with a file. */
  readonly authorization?: string | Credential;
  /** Another upstream in its place, for what becomes of its messages alone. */
  readonly messages?: (server: Upstream) => Upstream;
  /** Another upstream in its place, which decides whether it gets a request at all. */
  readonly guard?: (server: Upstream) => Upstream;
  /** Shows the gateway's credentials in another way than that. */
  readonly credential?: UpstreamCredential;
  /** The credential depends on the body of a request: it is read whole before the request is sent. */
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

/** A proxy that opens tunnels. */
export interface ProxySettings {
  /** `http://` or `https://`, how the proxy itself is reached, with host and port. */
  readonly url: string;
  /** Milliseconds to connect, and as much to its response. */
  readonly connectTimeout: number;
  /** Absent: the system's. */
  readonly keepAlive?: KeepAliveSettings;
  /** How an `https://` proxy is known. */
  readonly tls?: UpstreamTlsSettings;
  /** What it is shown in Proxy-Authorization, or the path of a file that holds it; absent: nothing. */
  readonly authorization?: string;
  readonly authorizationFile?: string;
}

/** Puts credentials on a request that is complete otherwise. Throws or rejects when there are none to be had. */
export type UpstreamCredential = (call: UpstreamCall) => void | Promise<void>;

/** One request to an upstream. */
export interface UpstreamCall {
  readonly method: string;
  /** Target in origin form. */
  readonly path: string;
  /** Flat header list with Host, without hop-by-hop headers and Content-Length: framing follows from the body. */
  readonly headers: string[];
  readonly body: string | Uint8Array | BodySource | null;
  /** The exchange that it is a part of; absent: the gateway asks for itself. */
  readonly exchange?: Exchange;
  /** What may stand behind its body: whoever changes headers notes their names there. */
  readonly trailers?: RequestTrailers | undefined;
}

/** A request whose fields go on as lines. */
export interface LinesCall {
  readonly method: string;
  /** Target in origin form. */
  readonly path: string;
  /** Each with its line break, without hop-by-hop headers and Content-Length; Host is among them. */
  readonly lines: string;
  readonly body: UpstreamCall["body"];
  /** Bytes of a body that is a text; absent: nobody has counted them. */
  readonly length?: number | undefined;
}

/** Receives one response. */
export interface UpstreamHandler {
  /** The head; `headers` is a flat list, hop-by-hop headers included. Interim (1xx) responses are not shown. */
  onHead(status: number, headers: readonly string[]): void;
  /** Gets the head in the place of `onHead` where HTTP/1.1 has received it: for who passes it on. Absent: there is a list alone. */
  onFields?(status: number, fields: ReceivedFields): void;
  /** A piece of the body. False: pause until `UpstreamRequest.resume`. */
  onData(chunk: Buffer): boolean;
  /** Nobody holds bytes of the pieces that `onData` got, as all of them have left the process. Absent: they may be held. */
  readonly holdsNothing?: boolean;
  /** `trailers` is a flat list of the fields behind the body (RFC 9110 6.5), as they came; undefined: none. */
  onEnd(trailers?: readonly string[]): void;
  /** The call failed before or during the response. */
  onError(failure: UpstreamFailure): void;
}

/** Receives the response to a request for another protocol: that of any request, or the change. */
export interface UpgradeHandler extends UpstreamHandler {
  /** The upstream has changed: `onData` and `onEnd` are about raw bytes from here on. `headers` are those of its 101. */
  onSwitch(headers: readonly string[], tunnel: UpstreamTunnel): void;
}

/** The way to an upstream that has left HTTP. */
export interface UpstreamTunnel {
  /** False: wait for `onDrain`. */
  write(chunk: Uint8Array): boolean;
  /** Called each time a full buffer was emptied. */
  onDrain(listener: () => void): void;
  end(): void;
}

/** Why an upstream call failed: the response to the client follows from it (503, 504, 502; 403 when it may not be made, 401 without a token for it). */
export interface UpstreamFailure {
  readonly kind: "connect" | "timeout" | "protocol" | "closed";
  /** The destination is not one that the client may choose. */
  readonly isForbidden?: true;
  /** The rules of the upstream forbid it: 403. */
  readonly isDenied?: true;
  /** The client's token is none that the backend could be shown another one for: 401. */
  readonly isUnauthorized?: true;
  /** The request is to blame, not the server: nothing that could be sent, or its client has left. */
  readonly isOfRequest?: true;
  /**
   * Nothing of the request was sent to the server, and this is its body, whole: another server can have it. Absent: the
   * request may have been sent.
   */
  readonly unsent?: { readonly body: UpstreamCall["body"] };
  /** For the log only, never for a client. */
  readonly detail: string;
}

/** Why a request is broken off: its upstream took too long, or its response is one to try again for. */
export type AbortReason = "timeout" | "discarded";

/** A request under way. */
export interface UpstreamRequest {
  /**
   * Breaks the request off; the upstream's connection is closed at once. Safe to call again. `reason`: absent when nobody
   * waits for the response.
   */
  abort(reason?: AbortReason): void;
  resume(): void;
}
