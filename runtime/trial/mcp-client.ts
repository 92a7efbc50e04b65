import { metaKey } from "../mcp/protocol/envelope.ts";
import { encodeHeader } from "../mcp/protocol/header-names.ts";
import { NEWEST_SESSION_REVISION, STATELESS_REVISION } from "../mcp/protocol/revisions.ts";
import type { ClientMessage } from "./trial.ts";

/** Headers and the body of a client's message, in the revision that its era means. */
export function messageRequest(message: ClientMessage): {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
} {
  return message.era === "sessions" ? sessionRequest(message) : statelessRequest(message);
}

/** What the first message of a session says of its client. */
export function initializeMessage({ capabilities = {} }: ClientMessage): ClientMessage {
  const params = { protocolVersion: NEWEST_SESSION_REVISION, capabilities, clientInfo };
  return { era: "sessions", method: "initialize", params, name: undefined };
}

const clientInfo = { name: "trial", version: "1" };

const bodyHeaders = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function sessionRequest({ method, params, session }: ClientMessage) {
  const id = method.startsWith("notifications/") ? {} : { id: 1 };
  return {
    headers: {
      ...bodyHeaders,
      ...(method === "initialize" ? {} : { "mcp-protocol-version": NEWEST_SESSION_REVISION }),
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...id, method, params }),
  };
}

/** One request says it all. */
function statelessRequest({ method, params, name, capabilities = {} }: ClientMessage) {
  const envelope = {
    [metaKey.protocolVersion]: STATELESS_REVISION,
    [metaKey.clientCapabilities]: capabilities,
    [metaKey.clientInfo]: clientInfo,
  };
  return {
    headers: {
      ...bodyHeaders,
      "mcp-protocol-version": STATELESS_REVISION,
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": encodeHeader(name) }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope } }),
  };
}
