import { metaKey } from "../mcp/protocol/envelope.ts";
import { encodeHeader } from "../mcp/protocol/header-names.ts";
import { NEWEST_SESSION_REVISION, STATELESS_REVISION } from "../mcp/protocol/revisions.ts";
import type { ClientMessage } from "./trial.ts";

/** Returns the headers and body of a client's message, in the revision of its era. */
export function messageRequest(message: ClientMessage): {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
} {
  return message.era === "sessions" ? sessionRequest(message) : statelessRequest(message);
}

/** Returns the first message of a session. */
export function initializeMessage({ capabilities = {} }: ClientMessage): ClientMessage {
  const params = {
    protocolVersion: NEWEST_SESSION_REVISION,
    capabilities,
    clientInfo: CLIENT_INFO,
  };
  return { era: "sessions", method: "initialize", params, name: undefined };
}

const CLIENT_INFO = { name: "trial", version: "1" };

const BODY_HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function sessionRequest({ method, params, session }: ClientMessage) {
  const id = method.startsWith("notifications/") ? {} : { id: 1 };
  return {
    headers: {
      ...BODY_HEADERS,
      ...(method === "initialize" ? {} : { "mcp-protocol-version": NEWEST_SESSION_REVISION }),
      ...(session === undefined ? {} : { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", ...id, method, params }),
  };
}

/** A stateless request contains all client data. */
function statelessRequest({ method, params, name, capabilities = {} }: ClientMessage) {
  const envelope = {
    [metaKey.protocolVersion]: STATELESS_REVISION,
    [metaKey.clientCapabilities]: capabilities,
    [metaKey.clientInfo]: CLIENT_INFO,
  };
  return {
    headers: {
      ...BODY_HEADERS,
      "mcp-protocol-version": STATELESS_REVISION,
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": encodeHeader(name) }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope } }),
  };
}
