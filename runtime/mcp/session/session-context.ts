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

/** The context of a request in a session. */
export interface SessionContext {
  readonly exchange: Exchange;
  readonly backend: McpBackend;
  readonly access: McpAuthorization;
  readonly session: ServedSession;
}

/** The session of a request; for a client without sessions, only its targets. */
export interface ServedSession extends Pick<McpSession, "initialize" | "isEnded" | "streams"> {
  readonly targets: readonly (TargetSession | DirectTarget | undefined)[];
  /** Absent if nothing outlives a request. */
  readonly tasks?: Set<string>;
}

/** A target for a client without a session here. */
export interface DirectTarget {
  readonly kind: "direct";
  /** The era of the client. */
  readonly era: TargetEraName;
  /** All features; the target itself refuses what it does not support. */
  readonly features: Features;
  call(request: Message, sink: CallSink): Call;
}

/** A target that takes part in a session. */
export interface ActiveTarget {
  readonly index: number;
  readonly target: McpTarget;
  readonly session: TargetSession | DirectTarget;
}

/** Whether the client speaks the revision without sessions. */
export function isStateless({ session }: SessionContext): boolean {
  return session.targets.some((target) => target?.kind === "direct" && target.era === "stateless");
}

/** Returns the targets of a session without those that failOpen has excluded. */
export function activeTargets(context: SessionContext): ActiveTarget[] {
  const active: ActiveTarget[] = [];
  for (const index of context.backend.targets.keys()) {
    const found = activeTarget(context, index);
    if (found !== undefined) active.push(found);
  }
  return active;
}

/** Returns the names of targets that failOpen has excluded. */
export function excludedTargets({ backend, session }: SessionContext): string[] {
  const excluded = backend.targets.filter((_, index) => session.targets[index] === undefined);
  return excluded.map(({ name }) => name);
}

/** Returns one target of a session; `undefined` if it takes no part. */
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
  // The session has the same targets as the backend: its id is bound to them.
  if (target.kind !== "streamableHttp") return refused(sink);
  return callInSession(context, target, session, request, sink);
}

/** Sends a notification, or the response to a request of the server. `onResponse` of the sink means that it was accepted. */
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

/** Returns the context for the bridge to a target without sessions; `undefined` if the route needs no bridge. */
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
  sink.onFailure({ kind: "session", detail: "the session belongs to another kind of target" });
  return endedCall;
}
