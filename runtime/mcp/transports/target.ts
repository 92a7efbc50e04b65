import type { UserConnection } from "../../auth/connections/connected-upstream.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import type { Message } from "../protocol/message.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import type { Replicas } from "./replicas.ts";
import type { TargetEra } from "./target-era.ts";
import type { Transport, TransportEvents, TransportHost } from "./transport.ts";

/** One MCP server behind a route. */
export type McpTarget = StreamableHttpTarget | LiveTarget;

/** A target for which a session holds a child process, a stream or other state in this process. */
export type LiveTarget = SseTarget | StdioTarget | OpenApiTarget;

/** A server over streamable HTTP. */
export interface StreamableHttpTarget {
  readonly kind: "streamableHttp";
  readonly name: string;
  /** Any of its replicas, for requests outside sessions. */
  readonly upstream: Upstream;
  readonly replicas: Replicas;
  readonly credentials: Credentials;
  /** Connection of users whose tokens it gets; absent if it gets none. */
  readonly user?: UserConnection;
  /** Whether requests may be retried, so that their bodies are buffered. */
  readonly holdsBodies: boolean;
  /** Identifies the server; session ids are bound to it, so a changed server invalidates them. */
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

/** The command line and environment of a child process. */
export interface StdioCommand {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Its folder; absent for that of the gateway's process. */
  readonly cwd?: string;
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
  /** Connection of users whose tokens it gets; absent if it gets none. */
  readonly user?: UserConnection;
  /** Serves one session; `headers` is the flat list of end-to-end headers that every request carries. */
  open(headers: readonly string[], host: TransportHost, events: TransportEvents): Transport;
  readonly identity: string;
}

/**
 * Whether the client's Authorization and cookies are forwarded to an HTTP target. A token is meant only for the server that
 * it was issued for (MCP, security best practices: no token passthrough), so `forward` is for routes whose tokens are
 * issued for the target.
 */
export type Credentials = "forward" | "token" | "withhold";

/** Receives what a target sends in response to one request: any number of `onMessage` calls, then one of the other two. */
export interface CallSink {
  /** Receives a request or a notification of the server. Returns false to pause until `Call.resume`. */
  onMessage(message: Message): boolean;
  /** The response. */
  onResponse(message: Message): void;
  onFailure(failure: TargetFailure): void;
}

/** Receives a server's messages outside of calls. */
export interface ListenSink {
  /** Returns false to pause until `Call.resume`. */
  onMessage(message: Message): boolean;
  /** The target is gone. */
  onEnd(): void;
}

/** A request in flight. */
export interface Call {
  /** Cancels the request: the target is notified, and nothing more is delivered. May be called again. */
  cancel(): void;
  resume(): void;
}

/** A call that has ended or never started. */
export const endedCall: Call = { cancel: () => {}, resume: () => {} };
