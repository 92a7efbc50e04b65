import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import type { Call, CallSink, ListenSink, StdioTarget, StreamableHttpTarget } from "./target.ts";
import type { TargetConnection } from "./target-connection.ts";

/** What a client's session is to a target that has none: the gateway keeps what the target would. */
export interface BridgedSession {
  readonly kind: "stateless";
  /** What the target offers (see session.ts). */
  readonly features: string;
  /** Of a child; undefined over HTTP. */
  readonly connection: Pick<TargetConnection, "call" | "close" | "isOpen"> | undefined;
  /** From which on the client wants log messages; undefined: it has not said. */
  logLevel: string | undefined;
  /** The URIs that the client has subscribed to. */
  readonly subscriptions: Set<string>;
  /** The client's requests under way, by their ids (JSON text). */
  readonly calls: Map<string, BridgedRequest>;
  /** Called when the subscriptions have changed. */
  readonly listeners: Set<() => void>;
  /** What calls of tools repeat in headers, by their names, as lists have shown it. */
  readonly paramHeaders: Map<string, readonly ParamHeader[]>;
  /** Tools whose output is wrapped, as their schemas are (old clients know objects only). */
  readonly wrapped: Set<string>;
}

/** A request of a client's in such a session. */
export interface BridgedRequest extends Call {
  /** The client takes its request back. */
  takeBack(): void;
  /** The client's response to what it was asked, by the id it was asked with. */
  takeResponse(id: string, response: Message): boolean;
}

/** Who asks, and in what session. */
export interface BridgedContext {
  readonly exchange: Exchange;
  /** The most bytes of one message of the target's. */
  readonly messageLimit: number;
  /** Milliseconds that a call waits for what its client was asked. */
  readonly inputTimeout: number;
  readonly target: StreamableHttpTarget | StdioTarget;
  readonly session: BridgedSession;
  /** The client's `initialize` params as JSON text. */
  readonly initialize: string | undefined;
}

/** Serves clients that have sessions by targets that have none. */
export interface SessionBridge {
  /** Asks what the target offers; the response is one to `initialize`. */
  open(context: BridgedContext, initialize: Message, sink: CallSink): Call;
  call(context: BridgedContext, request: Message, sink: CallSink): Call;
  /** Takes a client's notification, or its response to what it was asked. */
  notify(context: BridgedContext, message: Message): void;
  /** Hands over what the target says outside of any call. */
  listen(context: BridgedContext, sink: ListenSink): Call;
}

/** A session that has not been used yet. */
export function newBridgedSession(
  features: string,
  connection: BridgedSession["connection"],
): BridgedSession {
  return {
    kind: "stateless",
    features,
    connection,
    logLevel: undefined,
    subscriptions: new Set(),
    calls: new Map(),
    listeners: new Set(),
    paramHeaders: new Map(),
    wrapped: new Set(),
  };
}
