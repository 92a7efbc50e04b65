import type { Message } from "../protocol/message.ts";
import { isListMethod } from "../protocol/primitives.ts";
import { respondRpcError, rpcCode } from "../protocol/rpc-response.ts";
import type { Outcome, TargetFailure } from "../protocol/target-failure.ts";
import { hidesNothing } from "../rules/authorization.ts";
import { isHiddenUpdate, rulesFilter, type ShownMessage } from "../rules/list-filter.ts";
import { noteResponseError } from "../rules/mcp-metrics.ts";
import type { ToolLock } from "../rules/tool-lock.ts";
import { ClientStream } from "../session/client-stream.ts";
import { repeatedKey } from "../session/failure-response.ts";
import { isLockedOpening, openingFilter } from "../session/opening.ts";
import {
  type ActiveTarget,
  callTarget,
  isStateless,
  type SessionContext,
} from "../session/session-context.ts";
import { responseStatusOf } from "../stateless/response-status.ts";
import { statelessFilter } from "../stateless/shown-lists.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import { failedTarget } from "./failed-target.ts";
import { type TaskNames, taskNames, withTaskNames } from "./merged-tasks.ts";
import { clientName } from "./names.ts";
import { withOpenedState, withSealedState } from "./request-state.ts";
import { type AggregateTarget, forClient, responseForClient } from "./to-client.ts";

/**
 * Sends a request to one target and forwards the response and messages to the client. Calls to items that the tool lock
 * withholds are not sent. `tasks`: ids of the tasks that the response may contain; by default those that the request creates.
 */
export function forwardCall(
  context: SessionContext,
  active: ActiveTarget,
  received: Message,
  tasks?: TaskNames,
): void {
  const { exchange, backend, access } = context;
  const { target } = active;
  const request = withOpenedState(context, active, received);
  if (request === undefined) {
    respondRpcError(exchange, 200, "MCP", {
      id: received.id,
      code: rpcCode.invalidParams,
      message: "Invalid requestState",
    });
    return;
  }
  if (target.kind !== "stdio") exchange.record.upstream = target.upstream.name;
  const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
  const { toolLock } = access;
  if (toolLock?.isAbout(request)) void callLocked(toolLock, context, active, request, stream);
  else call(context, active, request, stream, tasks);
}

async function callLocked(
  lock: ToolLock,
  context: SessionContext,
  active: ActiveTarget,
  request: Message,
  stream: ClientStream,
): Promise<void> {
  const { exchange, backend, access } = context;
  const { target } = active;
  const ask = (own: Message): Promise<Outcome> =>
    outcomeOf(
      (sink) => callTarget(context, active, own, sink),
      backend.timeouts.fanOut,
      (message) => forwardTo(stream, active, context, message),
    );
  const refusal = await lock.check({
    exchange,
    jwt: access.jwt,
    target: target.name,
    request,
    nameAsSent: (kind, name) => {
      const listed = clientName(backend, target, kind, name);
      return backend.toolFront?.shownAs(kind, listed) ?? listed;
    },
    ask,
  });
  if (exchange.isOver) return;
  if (refusal === undefined) call(context, active, request, stream);
  else if (refusal.kind === "withheld") stream.response(refusal.text);
  else stream.fail(failedTarget(context, target, refusal.failure));
}

function call(
  context: SessionContext,
  active: ActiveTarget,
  request: Message,
  stream: ClientStream,
  given?: TaskNames,
): void {
  const { exchange, backend } = context;
  const { target } = active;
  const tasks = backend.prefix ? (given ?? taskNames(context, active, request)) : undefined;
  const named = (message: Message) => (tasks ? withTaskNames(message, tasks) : message);
  const narrowed = (text: string) => backend.narrowApps?.(text) ?? text;
  const sent = callTarget(context, active, request, {
    onMessage: (message) => forwardTo(stream, active, context, named(message)),
    onResponse: (response) => {
      noteResponseError(exchange, response);
      const shown = shownResponse(context, active, request, named(response));
      if (typeof shown === "string") stream.fail(repeatedKey);
      else
        stream.response(
          narrowed(shown.text),
          isStateless(context) ? responseStatusOf(response) : 200,
        );
    },
    onFailure: (failure) => {
      const failed = failedTarget(context, target, failure);
      // The error of a list may contain a list.
      stream.fail(isListMethod(request.method) ? failed : { ...failed, ...errorOf(failure) });
    },
  });
  stream.onDrain(() => sent.resume());
  exchange.onAbort(() => sent.cancel());
  const { request: limit } = backend.timeouts;
  if (limit === undefined) return;
  const timer = setTimeout(() => {
    sent.cancel();
    const failure = { kind: "timeout", detail: "request timeout" } as const;
    stream.fail(failedTarget(context, target, failure));
  }, limit);
  exchange.onClose(() => clearTimeout(timer));
}

/**
 * Forwards a message that a target sends before its response. Returns false if the caller must wait for the stream to
 * drain.
 */
export function forwardTo(
  stream: ClientStream,
  active: ActiveTarget | undefined,
  context: SessionContext,
  message: Message,
): boolean {
  const shown = active && messageForClient(context, active, message);
  return shown === undefined || stream.message(shown.text);
}

/** Returns a server's request or notification as this client sees it; `undefined` if it is hidden. */
export function messageForClient(
  context: SessionContext,
  active: ActiveTarget,
  message: Message,
): Message | undefined {
  const { exchange, access, backend } = context;
  backend.owners?.notice(message);
  backend.toolFront?.notice(message);
  if (isHiddenUpdate(exchange, access, active.target.name, message)) return undefined;
  // It has the target's id of a task. Clients must not rely on it, and ask with their own.
  if (backend.prefix && message.method === "notifications/tasks/status") return undefined;
  return backend.prefix ? forClient(message, aggregateTarget(context, active)) : message;
}

function shownResponse(
  context: SessionContext,
  active: ActiveTarget,
  request: Message,
  response: Message,
): ShownMessage {
  const { backend, access, exchange } = context;
  const sealed = withSealedState(context, active, request, response);
  if (backend.prefix) return responseForClient(sealed, aggregateTarget(context, active));
  if (isLockedOpening(access, request.method))
    return openingFilter(exchange, access, active.target.name)(sealed);
  if (hidesNothing(access) || !isListMethod(request.method)) return sealed;
  const filter = isStateless(context) ? statelessFilter : rulesFilter;
  return filter(exchange, access, active.target.name)(response);
}

function errorOf({ error }: TargetFailure): Pick<TargetFailure, "error"> {
  return error === undefined ? {} : { error };
}

function aggregateTarget(
  { backend }: SessionContext,
  { index, target }: ActiveTarget,
): AggregateTarget {
  return {
    index,
    name: target.name,
    clientUri: (uri) => clientName(backend, target, "resource", uri),
  };
}
