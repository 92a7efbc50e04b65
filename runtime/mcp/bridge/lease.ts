import type { Exchange } from "../../http/exchange.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { INPUT_METHODS } from "../protocol/methods.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { openConnection } from "../session/open-connection.ts";
import type { LiveParts } from "../session/session.ts";
import { sessionTable } from "../session/session-table.ts";
import type { McpBackend } from "../transports/backend.ts";
import { callByMessage } from "../transports/call-span.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import {
  type Call,
  type CallSink,
  endedCall,
  type ListenSink,
  type LiveTarget,
  type McpTarget,
} from "../transports/target.ts";
import { HttpLink } from "./http-link.ts";
import type { LeasedLink } from "./leased-link.ts";
import { type ClientDeclaration, isAnswerable } from "./stateless-request.ts";
import type { OpenedServer } from "./stateless-results.ts";

/** A session with a target that serves one request at a time of a client without sessions. */
export interface Lease {
  /** The server's response when the session was opened. */
  readonly opened: OpenedServer;
  readonly link: LeasedLink;
  /** The log level of the server, as JSON text; `undefined` if none was set. */
  logLevel: string | undefined;
  /** Receives messages that the server does not assign to a request; `undefined` if no request is in flight. */
  onMessage: ((message: Message) => boolean) | undefined;
}

/** An opened session, or why it could not be opened. */
export type LeaseOutcome =
  | { readonly kind: "lease"; readonly lease: Lease }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

/** The target of a new session, and its client. */
export interface LeaseOptions {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly target: McpTarget;
  /** The caller whose share of all sessions it uses. */
  readonly caller: string;
  readonly declared: ClientDeclaration;
  /** The revision that it is opened with. */
  readonly revision: string;
}

/** Opens a session. */
export async function openLease(options: LeaseOptions): Promise<LeaseOutcome> {
  const { exchange, backend, target, declared, revision } = options;
  const params = `{"protocolVersion":"${revision}","capabilities":${declared.capabilities},"clientInfo":${declared.clientInfo}}`;
  const link = linkTo(options, params);
  if (link === undefined) return failed({ kind: "connect", detail: "too many sessions" });
  const initialize = ownMessage(
    `{"jsonrpc":"2.0","id":"gwc-open","method":"initialize","params":${params}}`,
  );
  const outcome = await outcomeOf(
    (sink) => link.call(exchange, initialize, sink),
    backend.timeouts.initialize,
  );
  if (outcome.kind === "failure" || outcome.response.result === undefined) {
    link.close();
    if (outcome.kind === "response" && !speaksSessions(outcome.response)) noSessions(target);
    const refused: TargetFailure = { kind: "protocol", detail: "refused to open a session" };
    return failed(outcome.kind === "failure" ? outcome.failure : refused);
  }
  const { text, result } = outcome.response;
  const opened: OpenedServer = JSON.parse(textAt(text, result));
  if (link instanceof HttpLink) link.agree(String(opened.protocolVersion));
  link.send(initialized);
  const lease: Lease = { opened, link, logLevel: undefined, onMessage: undefined };
  // A child sends all messages on its one connection.
  const mayBeAsked = [...INPUT_METHODS].some((method) => isAnswerable(declared, method));
  if (link instanceof HttpLink && mayBeAsked) await listen(lease);
  return { kind: "lease", lease };
}

const initialized = ownMessage('{"jsonrpc":"2.0","method":"notifications/initialized"}');

/** Whether a server supports sessions; one that does not reports that in its error. */
function speaksSessions(response: Message): boolean {
  return errorCodeOf(response) !== rpcCode.unsupportedVersion;
}

function noSessions(target: McpTarget): void {
  if (target.kind === "streamableHttp" || target.kind === "stdio") target.era.noteSessions(false);
}

/** Returns `undefined` if there are too many sessions. */
function linkTo(
  { exchange, backend, target, caller }: LeaseOptions,
  initialize: string,
): LeasedLink | undefined {
  if (target.kind === "streamableHttp") {
    return new HttpLink(exchange, backend, target, initialize);
  }
  const live = sessionTable(exchange.gateway).openLive(backend.sessionLimits, caller);
  return live && new ConnectionLink(exchange, backend, target, live);
}

function failed(failure: TargetFailure): LeaseOutcome {
  return { kind: "failure", failure };
}

/**
 * Listens to the session's own stream, where servers over HTTP may send requests. Only one request uses the session at a
 * time, so they belong to it.
 */
function listen(lease: Lease): Promise<void> {
  const onMessage = (message: Message) => {
    if (lease.onMessage !== undefined) return lease.onMessage(message);
    if (message.kind === "request") lease.link.send(refusalOf(message));
    return true;
  };
  return lease.link.listen({ onMessage, onEnd: () => {} });
}

/** Refuses a request of a server that the client cannot answer. */
export function refusalOf({ id }: Message): Message {
  return ownMessage(
    rpcError(id, rpcCode.methodNotFound, "The client cannot answer this request now"),
  );
}

/** A session over a connection of this process: a child, an event stream, an API. */
class ConnectionLink implements LeasedLink {
  readonly #target: LiveTarget;
  readonly #opened: ReturnType<typeof openConnection>;
  readonly #close: () => void;

  constructor(exchange: Exchange, backend: McpBackend, target: LiveTarget, live: LiveParts) {
    this.#target = target;
    live.isEstablished = true;
    this.#opened = openConnection(exchange, backend, target, live);
    const close = () => sessionTable(exchange.gateway).closeLive(live);
    this.#close = close;
  }

  get isOpen(): boolean {
    return "connection" in this.#opened && this.#opened.connection.isOpen;
  }

  call(exchange: Exchange, request: Message, sink: CallSink): Call {
    if ("failure" in this.#opened) {
      sink.onFailure(this.#opened.failure);
      return endedCall;
    }
    noteTargetEra(exchange, "sessions");
    return callByMessage(exchange, this.#target, this.#opened.connection, request, sink);
  }

  send(message: Message): void {
    if ("connection" in this.#opened) this.#opened.connection.send(message);
  }

  async listen(sink: ListenSink): Promise<void> {
    if ("connection" in this.#opened) this.#opened.connection.listen(sink);
  }

  close(): void {
    this.#close();
  }
}
