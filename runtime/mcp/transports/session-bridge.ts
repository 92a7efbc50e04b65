import type { Exchange } from "../../http/exchange.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import type { Message } from "../protocol/message.ts";
import type { ParamHeader } from "../protocol/param-headers.ts";
import type { Call, CallSink, ListenSink, StdioTarget, StreamableHttpTarget } from "./target.ts";
import type { SessionConnection } from "./target-connection.ts";

/** The part of a session that lasts between its requests: what its client has set, and what the client was told. */
export interface BridgedState {
  /** Minimum level of log messages that the client wants; `undefined` if it has set none. */
  logLevel: string | undefined;
  /** The URIs that the client has subscribed to. */
  readonly subscriptions: Set<string>;
  /** Tools whose output is wrapped in an object, as their schemas are (old clients support objects only). */
  readonly wrapped: Set<string>;
}

/** A change of that part. It may be made to several copies of it. */
export type StateChange = (state: BridgedState) => void;

/** A client's session with a target that has no sessions: the gateway holds the state that the target would. */
export interface BridgedSession extends BridgedState {
  readonly kind: "stateless";
  /** The target's capabilities (see session.ts). */
  readonly features: string;
  /** The connection to a child; `undefined` over HTTP. */
  readonly connection: Pick<SessionConnection, "call" | "close" | "isOpen"> | undefined;
  /** Makes a change known to other replicas; absent if there are none. */
  share?: (change: StateChange) => Promise<void>;
  /** The client's requests in flight, by their ids (JSON text). */
  readonly calls: Map<string, BridgedRequest>;
  /** Called when the subscriptions have changed. */
  readonly listeners: Set<() => void>;
  /** The tool arguments that calls repeat in headers, by tool name, as listed by the target. */
  readonly paramHeaders: Map<string, readonly ParamHeader[]>;
}

/** A client's request in such a session. */
export interface BridgedRequest extends Call {
  /** Cancels the request on behalf of the client. */
  takeBack(): void;
  /** Takes the client's response to a request of the server, by the id of that request. */
  takeResponse(id: string, response: Message): boolean;
}

/** The client and its session. */
export interface BridgedContext {
  readonly exchange: Exchange;
  /** Maximum number of bytes of one message from the target. */
  readonly messageLimit: number;
  /** Maximum milliseconds that a call waits for its client's input. */
  readonly inputTimeout: number;
  readonly target: StreamableHttpTarget | StdioTarget;
  readonly session: BridgedSession;
  /** The params of the client's `initialize` as JSON text. */
  readonly initialize: string | undefined;
}

/** Serves clients with sessions from targets without sessions. */
export interface SessionBridge {
  /** Requests the target's capabilities; the response is one to `initialize`. */
  open(context: BridgedContext, initialize: Message, sink: CallSink): Call;
  call(context: BridgedContext, request: Message, sink: CallSink): Call;
  /** Takes a client's notification, or its response to a request of the server. */
  notify(context: BridgedContext, message: Message): void;
  /** Delivers the target's messages outside of calls. */
  listen(context: BridgedContext, sink: ListenSink): Call;
}

/** Changes the state of a session here and, if there are others, at all replicas. */
export function changeState(session: BridgedSession, change: StateChange): MaybePromise<void> {
  change(session);
  return session.share?.(change);
}

/** Returns a new session. */
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
