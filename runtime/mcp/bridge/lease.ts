import type { Exchange } from "../../http/exchange.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { INPUT_METHODS } from "../protocol/methods.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { rpcCode, rpcError } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { sessionTable } from "../session/session-table.ts";
import type { McpBackend } from "../transports/backend.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import type { McpTarget } from "../transports/target.ts";
import { ConnectionLink } from "./connection-link.ts";
import { HttpLink } from "./http-link.ts";
import type { LeasedLink } from "./leased-link.ts";
import { isAnswerable, type SaidByClient } from "./stateless-request.ts";
import type { OpenedServer } from "./stateless-results.ts";

/** A session with a target, for one request at a time of a client that has none. */
export interface Lease {
  /** What the server said when the session was opened. */
  readonly opened: OpenedServer;
  readonly link: LeasedLink;
  /** From which level on the server logs, as JSON text; undefined: nobody has said. */
  logLevel: string | undefined;
  /** Takes what the server says while no request can be told that it belongs to; undefined: nobody waits for it. */
  onMessage: ((message: Message) => boolean) | undefined;
}

/** A session that was opened, or why there is none. */
export type LeaseOutcome =
  | { readonly kind: "lease"; readonly lease: Lease }
  | { readonly kind: "failure"; readonly failure: TargetFailure };

/** Where a session is opened, and as whom. */
export interface LeaseOptions {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly target: McpTarget;
  /** Whose share of all sessions it takes. */
  readonly caller: string;
  readonly said: SaidByClient;
  /** The revision that it is opened in. */
  readonly revision: string;
}

/** Opens a session. */
export async function openLease(options: LeaseOptions): Promise<LeaseOutcome> {
  const { exchange, backend, target, said, revision } = options;
  const params = `{"protocolVersion":"${revision}","capabilities":${said.capabilities},"clientInfo":${said.clientInfo}}`;
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
  // A child says everything on its one connection.
  const mayBeAsked = [...INPUT_METHODS].some((method) => isAnswerable(said, method));
  if (link instanceof HttpLink && mayBeAsked) await listen(lease);
  return { kind: "lease", lease };
}

const initialized = ownMessage('{"jsonrpc":"2.0","method":"notifications/initialized"}');

/** A server that knows the stateless revision alone says so. */
function speaksSessions(response: Message): boolean {
  return errorCodeOf(response) !== rpcCode.unsupportedVersion;
}

function noSessions(target: McpTarget): void {
  if (target.kind === "streamableHttp" || target.kind === "stdio") target.era.noteSessions(false);
}

/** Undefined: there are too many. */
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

/** A server over HTTP may ask on the session's own stream: one request has the session, so that is the one it asks for. */
function listen(lease: Lease): Promise<void> {
  const onMessage = (message: Message) => {
    if (lease.onMessage !== undefined) return lease.onMessage(message);
    if (message.kind === "request") lease.link.send(refusalOf(message));
    return true;
  };
  return lease.link.listen({ onMessage, onEnd: () => {} });
}

/** For what a server asks when nobody can be asked. */
export function refusalOf({ id }: Message): Message {
  return ownMessage(rpcError(id, rpcCode.methodNotFound, "The client can't be asked that now"));
}
