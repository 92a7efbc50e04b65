import {
  AUTHORIZATION_SERVER,
  pathAfter,
  protectedResourcePath,
} from "../../auth/oauth/well-known.ts";
import type { Exchange, Handled } from "../../http/exchange.ts";
import { isUnder } from "../../http/routing/path.ts";
import { sendTraced } from "../../http/upstream/traced-request.ts";
import { thenMaybe } from "../../process/maybe-promise.ts";
import {
  serveSessionDelete,
  serveSessionPost,
  serveSessionStream,
} from "../aggregate/serve-session.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { isListMethod } from "../protocol/primitives.ts";
import { refuseHttpMethod } from "../protocol/transport-check.ts";
import { hidesNothing, type McpAuthorization } from "../rules/authorization.ts";
import { rulesFilter } from "../rules/list-filter.ts";
import { targetEventId } from "../session/event-ids.ts";
import {
  type HttpSession,
  type McpSession,
  newHttpSession,
  type SessionParts,
} from "../session/session.ts";
import { callInSession } from "../session/session-call.ts";
import {
  type SessionOwner,
  type SessionRequestOptions,
  sendInSession,
} from "../session/session-request.ts";
import {
  endSession,
  openSession,
  refuseUnknownSession,
  resumeSession,
} from "../session/sessions.ts";
import type { McpBackend, OnlyTargetBridge, PassthroughMessage } from "../transports/backend.ts";
import { noteTargetEra } from "../transports/noted-eras.ts";
import type { CallSink, StreamableHttpTarget } from "../transports/target.ts";
import { headersForTarget } from "../transports/upstream-headers.ts";
import { EndingSession } from "./ending-session.ts";
import { passStateless } from "./pass-stateless.ts";
import { passedFilter } from "./passed-filter.ts";
import { PassthroughRelay } from "./passthrough-relay.ts";
import { RefusedSessions } from "./refused-sessions.ts";
import { sendIfLocked } from "./send-if-locked.ts";

/** Forwards messages of both eras. */
export const toOnlyTarget: OnlyTargetBridge = { pass, passStateless };

/**
 * Forwards a request to the only target of a route unchanged. The response is read only if rules may hide parts of it:
 * lists and events.
 */
function pass(
  exchange: Exchange,
  backend: McpBackend,
  target: StreamableHttpTarget,
  access: McpAuthorization,
  post: PassthroughMessage | undefined,
): Handled {
  const isOpening = post?.message.kind === "request" && post.message.method === "initialize";
  if (isOpening && target.era.hasSessions === false)
    return serveSessionPost(exchange, backend, access, post.message);
  const id = isOpening ? undefined : exchange.header("mcp-session-id");
  if (id === undefined) {
    const opening = isOpening ? newHttpSession() : undefined;
    passMessage(exchange, backend, target, access, { post, session: undefined, opening });
    return;
  }
  return thenMaybe(resumeSession(exchange, backend, access, id), (session) => {
    if (session === undefined) refuseUnknownSession(exchange);
    else if (session.targets[0]?.kind === "stateless")
      return serveBridged(exchange, backend, access, post);
    else if (!exchange.isOver || isLasting(exchange, post))
      passMessage(exchange, backend, target, access, { post, session, opening: undefined });
  });
}

/** Whether a request has an effect that its client need not wait for: a notification, a response, the end of a session. */
function isLasting({ method }: Exchange, post: PassthroughMessage | undefined): boolean {
  return post === undefined ? method === "DELETE" : post.message.kind !== "request";
}

function passMessage(
  exchange: Exchange,
  backend: McpBackend,
  target: StreamableHttpTarget,
  access: McpAuthorization,
  passed: PassedParts,
): void {
  const { post, session, opening } = passed;
  noteTargetEra(exchange, "sessions");
  const relay = relayOf(exchange, backend, target, access, passed);
  const options = requestInSession(exchange, access, target, {
    session: opening ?? httpSession(session),
    owner: session,
    message: post?.message,
    body: post?.bytes ?? null,
  });
  if (opening !== undefined && post !== undefined && backend.toStateless !== undefined) {
    const onVerdict = (hasSessions: boolean) => {
      target.era.noteSessions(hasSessions);
      if (hasSessions) return;
      relay.leave();
      void serveSessionPost(exchange, backend, access, post.message);
    };
    relay.start((handler) => sendInSession(options, new RefusedSessions(handler, onVerdict)));
    return;
  }
  const ask = (request: Message, sink: CallSink) => {
    const context = { exchange, backend, session: session ?? noSession };
    return callInSession(context, target, httpSession(session) ?? newHttpSession(), request, sink);
  };
  const send = () =>
    relay.start((handler) => {
      if (exchange.method !== "DELETE" || session === undefined)
        return sendInSession(options, handler);
      const ending = new EndingSession(handler, () => endSession(exchange, session));
      return ending.start((each) => sendInSession(options, each));
    });
  sendIfLocked({ exchange, backend, access, target, request: post?.message }, ask, send);
}

/** The message and sessions of a client's request. */
interface PassedParts {
  readonly post: PassthroughMessage | undefined;
  /** `undefined` if the request names none. */
  readonly session: McpSession | undefined;
  /** The session that the request opens at the target; `undefined` if it opens none. */
  readonly opening: HttpSession | undefined;
}

/** Returns the relay of the response. */
function relayOf(
  exchange: Exchange,
  backend: McpBackend,
  target: StreamableHttpTarget,
  access: McpAuthorization,
  { post, opening }: PassedParts,
): PassthroughRelay {
  const method = post?.message.method;
  const passed = { method, isList: mayList(exchange, post), listFilter: rulesFilter };
  return new PassthroughRelay(exchange, target, {
    ...passedFilter(exchange, access, target.name, passed),
    requestId: post?.message.kind === "request" ? post.message.id : undefined,
    limit: backend.limits.message,
    keepAlive: backend.timeouts.keepAlive,
    deadline: exchange.method === "GET" ? undefined : backend.timeouts.request,
    onSession:
      post !== undefined && opening !== undefined
        ? (id) => {
            const parts = partsOf(post.message, { ...opening, id });
            return openSession(exchange, backend, access, parts).id;
          }
        : undefined,
    onStatus: undefined,
  });
}

/** The owner of a request that names no session. */
const noSession: SessionOwner = { initialize: undefined, isEnded: false };

/** Builds the request to the target. */
function requestInSession(
  exchange: Exchange,
  access: McpAuthorization,
  target: StreamableHttpTarget,
  sent: Pick<SessionRequestOptions, "session" | "owner" | "message" | "body">,
): SessionRequestOptions {
  const isOpenRoute = hidesNothing(access);
  const lastEventId = exchange.header("last-event-id");
  return {
    ...sent,
    target,
    method: methodOf(exchange),
    headers: headersForTarget(exchange, target),
    version: exchange.header("mcp-protocol-version"),
    acceptEncoding: isOpenRoute ? exchange.header("accept-encoding") : undefined,
    lastEventId:
      isOpenRoute || lastEventId === undefined ? lastEventId : targetEventId(exchange, lastEventId),
    trace: exchange.trace,
  };
}

/** Serves a session that the gateway holds because its target has none. */
function serveBridged(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  post: PassthroughMessage | undefined,
): Handled {
  if (post !== undefined) return serveSessionPost(exchange, backend, access, post.message);
  const serve = exchange.method === "DELETE" ? serveSessionDelete : serveSessionStream;
  return serve(exchange, backend, access);
}

/**
 * Forwards a request for the OAuth metadata of this route to its only target, unchanged; returns whether it was such a
 * request. For routes without mcpAuthentication, whose target is its own resource server (RFC 9728 3.1, RFC 8414 3.1).
 * Called after the route's policies. `paths`: the prefixes of the resources that the route serves, without a trailing
 * slash.
 */
export function passMetadata(
  exchange: Exchange,
  backend: McpBackend,
  paths: readonly string[],
): boolean {
  const target = backend.passthrough?.target;
  const resource = metadataResource(exchange.path);
  if (target === undefined || resource === undefined) return false;
  if (resource !== "" && !paths.some((path) => isUnder(resource, path))) return false;
  if (exchange.method !== "GET") {
    refuseHttpMethod(exchange, "GET");
    return true;
  }
  const relay = new PassthroughRelay(exchange, target, {
    requestId: undefined,
    filter: undefined,
    isList: false,
    readsRefusals: false,
    limit: backend.limits.message,
    keepAlive: backend.timeouts.keepAlive,
    deadline: backend.timeouts.request,
    onSession: undefined,
    onStatus: undefined,
  });
  const headers = headersForTarget(exchange, target);
  headers.push("accept", exchange.header("accept") ?? "*/*");
  const call = { method: "GET", path: exchange.target, headers, body: null };
  relay.start((handler) => sendTraced(exchange.trace, target.upstream, call, handler));
  return true;
}

/**
 * Returns the path of the resource whose metadata a path names. It may contain only segments that every server reads alike,
 * without `..` and escapes, so that the request stays below the two well-known names.
 */
function metadataResource(path: string): string | undefined {
  const resource = protectedResourcePath(path) ?? pathAfter(path, AUTHORIZATION_SERVER);
  return resource !== undefined && PLAIN_SEGMENTS.test(resource) ? resource : undefined;
}

const PLAIN_SEGMENTS = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)*\/?$/;

/** Whether the response may contain a list: a GET stream may repeat an earlier one. */
function mayList(exchange: Exchange, post: PassthroughMessage | undefined): boolean {
  return post === undefined ? exchange.method === "GET" : isListMethod(post.message.method);
}

function partsOf({ params, text }: Message, session: HttpSession): SessionParts {
  return {
    initialize: params === undefined ? undefined : textAt(text, params),
    targets: [session],
    live: undefined,
  };
}

function httpSession(session: McpSession | undefined): HttpSession | undefined {
  const first = session?.targets[0];
  return first?.kind === "http" ? first : undefined;
}

/** The transport checks allow only these three methods. */
function methodOf(exchange: Exchange): "GET" | "POST" | "DELETE" {
  return exchange.method === "POST" || exchange.method === "DELETE" ? exchange.method : "GET";
}
