import type { Exchange, Handled } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { thenMaybe } from "../../process/maybe-promise.ts";
import { itemLists } from "../protocol/item-lists.ts";
import type { Message } from "../protocol/message.ts";
import { sessionMethods, statelessMethods } from "../protocol/methods.ts";
import { addressedPrimitive } from "../protocol/primitives.ts";
import { respondRpcError, rpcResult, unknownMethod } from "../protocol/rpc-response.ts";
import type { McpAuthorization } from "../rules/authorization.ts";
import { cancelElsewhere } from "../session/cancelled-calls.ts";
import { ClientStream } from "../session/client-stream.ts";
import type { McpSession } from "../session/session.ts";
import {
  activeTarget,
  activeTargets,
  callTarget,
  excludedTargets,
  isStateless,
  notifyTarget,
  type SessionContext,
} from "../session/session-context.ts";
import { endSession, refuseUnknownSession, resumeSession } from "../session/sessions.ts";
import { endTargetSession } from "../session/target-end.ts";
import type { McpBackend } from "../transports/backend.ts";
import { fanOut } from "../transports/fan-out.ts";
import type { OwnedRequest } from "../transports/item-owners.ts";
import { endedCall } from "../transports/target.ts";
import { aggregateLists, serveAggregateList } from "./aggregate-lists.ts";
import { forwardCall, forwardTo, messageForClient } from "./forward-call.ts";
import { serveInitialize } from "./initialize.ts";
import { isTaskRequest, taskRequest } from "./merged-tasks.ts";
import { resolvePrimitive } from "./names.ts";
import { isPermitted } from "./permission.ts";
import { serveStream } from "./session-stream.ts";
import { serveTaskList } from "./task-list.ts";
import { type Routed, routeNotification, routeResponse, withItemName } from "./to-server.ts";

/** Serves a client's message where the gateway holds the session: several targets, stdio, SSE. */
export function serveSessionPost(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  message: Message,
): Handled {
  if (message.method === "initialize" && message.kind === "request") {
    serveInitialize(exchange, backend, access, message);
    return;
  }
  return inSession(exchange, backend, access, (context) => {
    if (message.kind !== "request") serveNotification(context, message);
    else if (!exchange.isOver) serveRequest(context, message);
  });
}

/** Serves a client's GET stream. */
export function serveSessionStream(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): Handled {
  return inSession(exchange, backend, access, (context) => {
    if (!exchange.isOver) serveStream(context);
  });
}

/** Ends a session, at the gateway and at its targets. */
export function serveSessionDelete(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
): Handled {
  return inSession(exchange, backend, access, ({ session: ended }) => {
    for (const [index, session] of ended.targets.entries()) {
      const target = backend.targets[index];
      if (target !== undefined && session !== undefined)
        endTargetSession(exchange, target, session);
    }
    return thenMaybe(endSession(exchange, ended), () => void exchange.respond(204, []));
  });
}

/** The context of a request with a session. */
interface HeldContext extends SessionContext {
  readonly session: McpSession;
}

/** Serves a request in the session that it names; responds with 400 or 404 if it cannot be resumed. */
function inSession(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  serve: (context: HeldContext) => Handled,
): Handled {
  const id = exchange.header("mcp-session-id");
  if (id === undefined) {
    refuse(exchange, 400, "MCP", "Mcp-Session-Id is required");
    return;
  }
  const { tag = "" } = backend;
  const resumed = id.startsWith(tag)
    ? resumeSession(exchange, backend, access, id.slice(tag.length))
    : undefined;
  return thenMaybe(resumed, (session) => {
    if (session === undefined) refuseUnknownSession(exchange);
    else return serve({ exchange, backend, access, session });
  });
}

/** Forwards a message that needs no response. 202 means that it was accepted, even if there is no recipient. */
function serveNotification(context: HeldContext, message: Message): void {
  const { exchange, backend, session } = context;
  if (message.method === "notifications/cancelled")
    cancelElsewhere(exchange.gateway, session, message);
  const call = fanOut(
    recipients(context, message).map((routed) => (sink) => {
      const active = activeTarget(context, routed.index);
      if (active !== undefined) return notifyTarget(context, active, routed.message, sink);
      sink.onResponse(message);
      return endedCall;
    }),
    {
      deadline: backend.timeouts.fanOut,
      onMessage: () => true,
      onDone: () => exchange.respond(202, []),
    },
  );
  exchange.onAbort(() => call.cancel());
}

/** Returns the recipients of a notification or response, each with the message for that target. */
function recipients(context: SessionContext, message: Message): readonly Routed[] {
  if (!context.backend.prefix) return [{ index: 0, message }];
  const isResponse = message.kind === "response";
  const routed = isResponse ? routeResponse(message) : routeNotification(message);
  if (routed !== undefined) return [routed];
  return isResponse ? [] : activeTargets(context).map(({ index }) => ({ index, message }));
}

/** Serves a request from the targets that it concerns. */
export function serveRequest(context: SessionContext, request: Message): void {
  const { prefix, owners, toolFront } = context.backend;
  if (toolFront?.serves(request) === true) {
    toolFront.serve(ownedRequest(context, request));
    return;
  }
  if (!prefix) {
    const only = activeTarget(context, 0);
    if (only !== undefined) forwardCall(context, only, request);
    return;
  }
  const list = aggregateLists.get(request.method);
  if (list !== undefined) {
    const owned = owners?.listOf(itemLists[list.field].kind);
    if (owned === undefined) serveAggregateList(context, request, list);
    else owners?.serveList(ownedRequest(context, request), owned);
    return;
  }
  const ownerIn = owners?.listFor(request);
  if (ownerIn !== undefined) {
    owners?.serveItem(ownedRequest(context, request), ownerIn);
    return;
  }
  if (isTaskRequest(request) && !isStateless(context)) {
    const task = taskRequest(context, request);
    if (task !== undefined) forwardCall(context, task.active, task.request, task.names);
    return;
  }
  if (request.method === "tasks/list" && !isStateless(context)) {
    serveTaskList(context, request);
    return;
  }
  if (request.method === "ping") {
    serveAll(context, request, "");
    return;
  }
  if (request.method === "logging/setLevel") {
    serveAll(context, request, "l");
    return;
  }
  serveOne(context, request);
}

/** Describes a request to code that other bundles do not contain: for items without prefixes, and for searches. */
function ownedRequest(context: SessionContext, request: Message): OwnedRequest {
  const { exchange, backend, access } = context;
  return {
    exchange,
    access,
    request,
    isStateless: isStateless(context),
    backend,
    excluded: excludedTargets(context),
    targets: activeTargets(context).map((active) => ({
      index: active.index,
      target: active.target,
      features: active.session.features,
      call: (own, sink) => callTarget(context, active, own, sink),
      forClient: (message) => messageForClient(context, active, message),
    })),
    forward: () => {
      const methods = isStateless(context) ? statelessMethods : sessionMethods;
      if (isPermitted(exchange, backend, access, methods, request)) serveOne(context, request);
    },
  };
}

/** Forwards a request that names an item to the item's target. */
function serveOne(context: SessionContext, request: Message): void {
  const { exchange, backend } = context;
  const addressed = addressedPrimitive(request);
  // Checked by serveMcp before: a named item exists and is visible.
  const item = addressed?.kind === "item" ? addressed.item : undefined;
  const caller = { exchange, jwt: context.access.jwt };
  const found = item && resolvePrimitive(backend, item, caller);
  if (item === undefined || found === undefined) {
    respondRpcError(exchange, 200, "MCP", { id: request.id, ...unknownMethod });
    return;
  }
  const active = activeTarget(context, found.index);
  if (active === undefined) {
    const detail = `${found.target.name} is not part of this session`;
    new ClientStream(exchange, request.id, backend.timeouts.keepAlive).fail({
      kind: "connect",
      detail,
    });
    return;
  }
  forwardCall(context, active, withItemName(request, item, found.name));
}

/** Sends a request with an empty result to every target, or to those with the feature. */
function serveAll(context: SessionContext, request: Message, feature: string): void {
  const { exchange, backend } = context;
  const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
  const asked = activeTargets(context).filter(({ session }) => session.features.includes(feature));
  const call = fanOut(
    asked.map((active) => (sink) => callTarget(context, active, request, sink)),
    {
      deadline: backend.timeouts.fanOut,
      onMessage: (at, message) => forwardTo(stream, asked[at], context, message),
      onDone: (outcomes) => {
        const failed = outcomes.find((outcome) => outcome.kind === "failure");
        const isFailure = failed !== undefined && backend.failureMode === "failClosed";
        const refused = outcomes.find(
          (outcome) => outcome.kind === "response" && outcome.response.result === undefined,
        );
        if (isFailure) stream.fail(failed.failure);
        else if (refused?.kind === "response") stream.response(refused.response.text);
        else stream.response(rpcResult(request.id, "{}"));
      },
    },
  );
  stream.onDrain(() => call.resume());
  exchange.onAbort(() => call.cancel());
}
