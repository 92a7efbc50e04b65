import type { Exchange } from "../../http/exchange.ts";
import type { Message } from "../protocol/message.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import type { McpBackend } from "../transports/backend.ts";
import { callByMessage } from "../transports/call-span.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import type {
  BridgedContext,
  BridgedSession,
  SessionBridge,
} from "../transports/session-bridge.ts";
import { type Call, type CallSink, endedCall, type McpTarget } from "../transports/target.ts";
import type { TargetEraName } from "../transports/target-era.ts";
import type { Features, McpSession, TargetSession } from "./session.ts";
import { callInSession } from "./session-call.ts";

/** A request within a session: what its handling needs to know. */
export interface SessionContext {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly access: McpAuthorization;
  readonly session: ServedSession;
}

/** What a request is part of: a session, or for a client without one the targets alone. */
export interface ServedSession extends Pick<McpSession, "initialize" | "isEnded" | "streams"> {
  readonly targets: readonly (TargetSession | DirectTarget | undefined)[];
}

/** A target as a client uses it that has no session here. */
export interface DirectTarget {
  readonly kind: "direct";
  /** Of the client's revision. */
  readonly era: TargetEraName;
  /** All of them: what the target does not have, it says itself. */
  readonly features: Features;
  call(request: Message, sink: CallSink): Call;
}

/** A target of a session that takes part in it. */
export interface ActiveTarget {
  readonly index: number;
  readonly target: McpTarget;
  readonly session: TargetSession | DirectTarget;
}

/** Whether the client speaks the revision without sessions. */
export function isStateless({ session }: SessionContext): boolean {
  return session.targets.some((target) => target?.kind === "direct" && target.era === "stateless");
}

/** The targets of a session, less those that failOpen has left out. */
export function activeTargets(context: SessionContext): ActiveTarget[] {
  const active: ActiveTarget[] = [];
  for (const index of context.backend.targets.keys()) {
    const found = activeTarget(context, index);
    if (found !== undefined) active.push(found);
  }
  return active;
}

/** One target of a session; undefined when it takes no part. */
export function activeTarget(context: SessionContext, index: number): ActiveTarget | undefined {
  const target = context.backend.targets[index];
  const session = context.session.targets[index];
  return target && session && { index, target, session };
}

/** Sends a request to a target. */
export function callTarget(
  context: SessionContext,
  { target, session }: ActiveTarget,
  request: Message,
  sink: CallSink,
): Call {
  if (session.kind === "direct") return session.call(request, sink);
  if (session.kind === "stateless") {
    const bridged = bridgedContext(context, { target, session });
    return bridged === undefined ? refused(sink) : bridged.bridge.call(bridged, request, sink);
  }
  if (session.kind === "live") {
    noteTargetEra(context.exchange, "sessions");
    return callByMessage(context.exchange, target, session.connection, request, sink);
  }
  // A session is made of the same targets that the backend has: its id is bound to them.
  if (target.kind !== "streamableHttp") return refused(sink);
  return callInSession(context, target, session, request, sink);
}

/** Sends a notification, or the response to a request of the server's. The sink's `onResponse` says that it was accepted. */
export function notifyTarget(
  context: SessionContext,
  active: ActiveTarget,
  message: Message,
  sink: CallSink,
): Call {
  const { session } = active;
  if (session.kind === "http") return callTarget(context, active, message, sink);
  if (session.kind === "live") session.connection.send(message);
  else if (session.kind === "stateless") {
    const bridged = bridgedContext(context, { target: active.target, session });
    bridged?.bridge.notify(bridged, message);
  }
  sink.onResponse(message);
  return endedCall;
}

/** What the bridge to a target without sessions needs to know; undefined: there is none, as nothing needs one. */
export function bridgedContext(
  {
    exchange,
    backend,
    session: owner,
  }: Pick<SessionContext, "exchange" | "backend"> & {
    readonly session: Pick<McpSession, "initialize">;
  },
  { target, session }: { readonly target: McpTarget; readonly session: BridgedSession },
): (BridgedContext & { readonly bridge: SessionBridge }) | undefined {
  const { toStateless: bridge, limits, timeouts } = backend;
  if (bridge === undefined || target.kind === "sse" || target.kind === "openapi") return undefined;
  const { initialize } = owner;
  return {
    bridge,
    exchange,
    messageLimit: limits.message,
    inputTimeout: timeouts.input,
    target,
    session,
    initialize,
  };
}

function refused(sink: CallSink): Call {
  sink.onFailure({ kind: "session", detail: "the session is of another kind of target" });
  return endedCall;
}
