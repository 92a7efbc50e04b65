import { metaKey, withResult } from "../protocol/envelope.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { errorCodeOf } from "../protocol/response-error.ts";
import { statelessRevision } from "../protocol/revisions.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";

/** The result of a server's `initialize`, as far as it matters to clients without sessions. */
export interface OpenedServer {
  readonly protocolVersion?: unknown;
  readonly capabilities?: {
    readonly [name: string]: { readonly listChanged?: unknown; readonly subscribe?: unknown };
  };
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
export function statelessResponse(
  request: Message,
  response: Message,
  { serverInfo }: OpenedServer,
): Message {
  if (response.result === undefined) return statelessError(response);
  const meta = serverInfo === undefined ? {} : { [metaKey.serverInfo]: JSON.stringify(serverInfo) };
  return withResult(response, meta, {
    resultType: '"complete"',
    ...(cacheable.has(request.method) ? { ttlMs: "0", cacheScope: '"private"' } : {}),
  });
}

/** Of revisions with sessions; the stateless one has another. */
const resourceNotFound = -32002;

function statelessError(response: Message): Message {
  if (errorCodeOf(response) !== resourceNotFound) return response;
  const { error }: { readonly error: { readonly message: string; readonly data?: object } } =
    JSON.parse(response.text);
  return ownMessage(rpcError(response.id, rpcCode.invalidParams, error.message, error.data));
}

const cacheable: ReadonlySet<string> = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);
