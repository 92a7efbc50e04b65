import { readWhole } from "../http/buffer-body.ts";
import type { Exchange, Handled } from "../http/exchange.ts";
import { refuse } from "../http/refuse.ts";
import { thenMaybe } from "../process/maybe-promise.ts";
import { permittedMessage, recordMethod } from "./aggregate/permission.ts";
import {
  serveSessionDelete,
  serveSessionPost,
  serveSessionStream,
} from "./aggregate/serve-session.ts";
import { serveSingleCall } from "./aggregate/serve-single-call.ts";
import { hasEnvelope } from "./protocol/envelope.ts";
import { readMessageBytes } from "./protocol/message.ts";
import { sessionMethods } from "./protocol/methods.ts";
import { SESSION_REVISIONS } from "./protocol/revisions.ts";
import { respondRpcError, responseId, rpcCode } from "./protocol/rpc-response.ts";
import { passesTransportChecks, refuseHttpMethod } from "./protocol/transport-check.ts";
import type { McpAuthorization } from "./rules/authorization.ts";
import { serveStateless } from "./serve-stateless.ts";
import type { McpBackend, PassthroughMessage } from "./transports/backend.ts";
import { noteClientEra } from "./transports/noted-eras.ts";

/**
 * Serves an MCP route over streamable HTTP: the revisions with sessions (2025-03-26, 2025-06-18, 2025-11-25) and the
 * stateless one (2026-07-28), as each request declares. Returns or resolves once the request has been forwarded; responses
 * may follow.
 */
export function serveMcp(exchange: Exchange, whole: McpBackend, access: McpAuthorization): Handled {
  if (!passesTransportChecks(exchange)) return;
  const backend = whole.viewed === undefined ? whole : viewOf(exchange, whole);
  switch (exchange.method) {
    case "POST": {
      const version = exchange.header("mcp-protocol-version");
      const hasSessions = version === undefined || SESSION_REVISIONS.has(version);
      noteClientEra(exchange, hasSessions ? "sessions" : "stateless");
      return (hasSessions ? servePost : serveStateless)(exchange, backend, access);
    }
    case "DELETE":
      if (backend.toSingleCalls !== undefined) return refuseSession(exchange);
      return passOr(serveSessionDelete, exchange, backend, access);
    default:
      if (backend.toSingleCalls !== undefined) return refuseSession(exchange);
      return passOr(serveSessionStream, exchange, backend, access);
  }
}

/** Returns the backend as the view that the path names, if it names one. */
function viewOf({ path }: Exchange, whole: McpBackend): McpBackend {
  return whole.viewed?.get(path.slice(path.lastIndexOf("/") + 1)) ?? whole;
}

/** Refuses GET and DELETE: there is no session to listen to or to end. */
function refuseSession(exchange: Exchange): void {
  refuseHttpMethod(exchange, "POST");
}

function servePost(exchange: Exchange, backend: McpBackend, access: McpAuthorization): Handled {
  return thenMaybe(readWhole(exchange, backend.limits.body), (bytes) => {
    if (bytes !== undefined) return serveSessionMessage(exchange, backend, access, bytes);
  });
}

function serveSessionMessage(
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  bytes: Buffer,
): Handled {
  const sent = readMessageBytes(bytes);
  if (sent.kind === "problem") {
    respondRpcError(exchange, 400, "MCP", sent);
    return;
  }
  recordMethod(exchange, sent.method);
  backend.sentTrace?.note(exchange, sent);
  if (hasEnvelope(sent)) {
    // Two parsers could take it for requests of different eras.
    respondRpcError(exchange, 400, "MCP", {
      id: responseId(sent),
      code: rpcCode.headerMismatch,
      message: "Header mismatch: MCP-Protocol-Version does not match _meta",
    });
    return;
  }
  if (exchange.gateway.isDraining && sent.method === "initialize") {
    refuse(exchange, 503, "Draining", "The gateway is shutting down");
    return;
  }
  const message = permittedMessage(exchange, backend, access, sessionMethods, sent);
  if (message === undefined) return;
  if (backend.toSingleCalls !== undefined) {
    serveSingleCall(exchange, backend, access, backend.toSingleCalls, message);
    return;
  }
  return passOr(
    () => serveSessionPost(exchange, backend, access, message),
    exchange,
    backend,
    access,
    { message, bytes },
  );
}

/** Forwards a request if its route has a target for that; otherwise serves it here. */
function passOr(
  serve: (exchange: Exchange, backend: McpBackend, access: McpAuthorization) => Handled,
  exchange: Exchange,
  backend: McpBackend,
  access: McpAuthorization,
  post?: PassthroughMessage,
): Handled {
  const { passthrough } = backend;
  if (passthrough === undefined) return serve(exchange, backend, access);
  return passthrough.bridge.pass(exchange, backend, passthrough.target, access, post);
}
