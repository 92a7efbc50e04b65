import { metaKey } from "../mcp/protocol/envelope.ts";
import { encodeHeader } from "../mcp/protocol/header-names.ts";
import { statelessRevision } from "../mcp/protocol/revisions.ts";
import type { ClientMessage } from "./trial.ts";

/** Flat headers and the body of a client's message, of the revision that has no sessions: one request says it all. */
export function messageRequest({ method, params, name, capabilities = {} }: ClientMessage): {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
} {
  const envelope = {
    [metaKey.protocolVersion]: statelessRevision,
    [metaKey.clientCapabilities]: capabilities,
    [metaKey.clientInfo]: { name: "trial", version: "1" },
  };
  return {
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": statelessRevision,
      "mcp-method": method,
      ...(name === undefined ? {} : { "mcp-name": encodeHeader(name) }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: envelope } }),
  };
}
