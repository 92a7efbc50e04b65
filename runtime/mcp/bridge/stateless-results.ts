import { objectMembers } from "../../json/json-text.ts";
import { metaKey } from "../protocol/envelope.ts";
import { type Message, readMessage, textAt } from "../protocol/message.ts";
import { edited, replaced } from "../protocol/message-edit.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { statelessRevision } from "../protocol/revisions.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";

/** The result of a server's `initialize`, as far as it matters to clients without sessions. */
export interface OpenedServer {
  readonly protocolVersion?: unknown;
  readonly capabilities?: { readonly [name: string]: unknown };
  readonly serverInfo?: unknown;
  readonly instructions?: unknown;
}

/** What a server with sessions offers, for a client without. Tasks of sessions are none of its own. */
export function discoverResponse(id: string, opened: OpenedServer): Message {
  const { tasks: _, ...capabilities } = opened.capabilities ?? {};
  const result = {
    resultType: "complete",
    supportedVersions: [statelessRevision],
    capabilities,
    instructions: opened.instructions,
    ttlMs: 0,
    cacheScope: "private",
    _meta: { [metaKey.serverInfo]: opened.serverInfo },
  };
  return ownMessage(rpcResult(id, JSON.stringify(result)));
}

/** A response of a server with sessions with what clients without need in it; it is good for now and for them alone. */
export function statelessResponse(request: Message, response: Message): Message {
  const { text, result } = response;
  if (result === undefined) {
    if (errorCodeOf(response) !== resourceNotFound) return response;
    const { error }: { readonly error: { readonly message: string; readonly data?: object } } =
      JSON.parse(text);
    return ownMessage(rpcError(response.id, rpcCode.invalidParams, error.message, error.data));
  }
  const has = new Set(objectMembers(text, result.start).map(({ key }) => key));
  const added = cacheable.has(request.method)
    ? { resultType: '"complete"', ttlMs: "0", cacheScope: '"private"' }
    : { resultType: '"complete"' };
  const members = Object.entries(added).flatMap(([key, value]) =>
    has.has(key) ? [] : [`"${key}":${value}`],
  );
  const rest = textAt(text, result).slice(1);
  const separator = has.size === 0 || members.length === 0 ? "" : ",";
  return edited(response, [replaced(result, `{${members.join(",")}${separator}${rest}`)]);
}

/** Of revisions with sessions; the stateless one has another. */
const resourceNotFound = -32002;

const cacheable: ReadonlySet<string> = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** A message that was written here. */
export function ownMessage(text: string): Message {
  const message = readMessage(text);
  if (message.kind === "problem") throw new Error(message.message);
  return message;
}
