import { RepeatingUpstream, type RepeatSettings } from "../../http/upstream/repeating-upstream.ts";
import type { Upstream, UpstreamCall } from "../../http/upstream/upstream.ts";
import { readMessage, readMessageBytes } from "../protocol/message.ts";

/** Retries requests to an MCP server that are safe to repeat; tool calls may have effects each time. */
export function repeatedServer(settings: RepeatSettings): (server: Upstream) => Upstream {
  return (server) => new RepeatingUpstream(server, settings, isRepeatable);
}

/** Retries requests to an HTTP API with idempotent methods (RFC 9110 9.2.2). */
export function repeatedApi(settings: RepeatSettings): (server: Upstream) => Upstream {
  return (server) =>
    new RepeatingUpstream(server, settings, ({ method }) => IDEMPOTENT.has(method));
}

const IDEMPOTENT: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "OPTIONS",
  "TRACE",
  "PUT",
  "DELETE",
]);

/** Methods without a further effect on the server when they are repeated. */
const REPEATABLE: ReadonlySet<string> = new Set([
  "initialize",
  "server/discover",
  "ping",
  "tools/list",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
  "logging/setLevel",
  "tasks/list",
  "tasks/get",
]);

function isRepeatable({ method, body }: UpstreamCall): boolean {
  // GET opens a stream, DELETE ends a session.
  if (method !== "POST") return true;
  if (typeof body === "string") return isNamed(readMessage(body));
  return body instanceof Uint8Array && isNamed(readMessageBytes(Buffer.from(body)));
}

function isNamed(message: ReturnType<typeof readMessage>): boolean {
  return message.kind === "request" && REPEATABLE.has(message.method);
}
