import type { Upstream } from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { Replicas } from "./replicas.ts";
import type { TargetEra } from "./target-era.ts";
import type { Transport, TransportEvents, TransportHost } from "./transport.ts";

/** One MCP server behind a route. */
export type McpTarget = StreamableHttpTarget | LiveTarget;

/** One that a session holds something for in this process. */
export type LiveTarget = SseTarget | StdioTarget | OpenApiTarget;

/** A server over streamable HTTP. */
export interface StreamableHttpTarget {
  readonly kind: "streamableHttp";
  readonly name: string;
  /** For what belongs to no session: any of its replicas. */
  readonly upstream: Upstream;
  readonly replicas: Replicas;
  readonly credentials: Credentials;
  /** Requests may be sent again: their bodies are kept. */
  readonly holdsBodies: boolean;
  /** What makes it another server when it changes: session ids are bound to it. */
  readonly identity: string;
  readonly era: TargetEra;
}

/** A server over the HTTP+SSE transport of revision 2024-11-05. */
export interface SseTarget {
  readonly kind: "sse";
  readonly name: string;
  readonly upstream: Upstream;
  readonly replicas: Replicas;
  readonly credentials: Credentials;
  readonly identity: string;
}

/** What a child process is started as. */
export interface StdioCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
}

/** A server that is started as a child process, one for each session. */
export interface StdioTarget extends StdioCommand {
  readonly kind: "stdio";
  readonly identity: string;
  readonly era: TargetEra;
}

/** An HTTP API whose operations are tools. */
export interface OpenApiTarget {
  readonly kind: "openapi";
  readonly name: string;
  readonly upstream: Upstream;
  readonly credentials: Credentials;
  /** Serves one session; `headers` is the flat list of end-to-end headers that every request carries. */
  open(headers: readonly string[], host: TransportHost, events: TransportEvents): Transport;
  readonly identity: string;
}

/**
 * Whether the client's Authorization and cookies go on to an HTTP target. A token is meant for whom it was issued to
 * (MCP, security best practices: no token passthrough), so `forward` is for routes whose tokens are the target's own.
 */
export type Credentials = "forward" | "token" | "withhold";

/** Takes what a target sends in response to one request: any number of `onMessage`, then one of the other two. */
export interface CallSink {
  /** A request or a notification of the server's. False: send no more until `Call.resume`. */
  onMessage(message: Message): boolean;
  /** The response. */
  onResponse(message: Message): void;
  onFailure(failure: TargetFailure): void;
}

/** Takes what a server says outside of any call. */
export interface ListenSink {
  /** False: send no more until `Call.resume`. */
  onMessage(message: Message): boolean;
  /** The target is gone. */
  onEnd(): void;
}

/** A request that a target is working on. */
export interface Call {
  /** Nobody waits any more: the target is notified, nothing more is handed over. Safe to call again. */
  cancel(): void;
  resume(): void;
}

/** A call that is over, or was none. */
export const endedCall: Call = { cancel: () => {}, resume: () => {} };
