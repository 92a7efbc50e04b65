import { elementsOf, isArrayAt, isObjectAt, objectMembers } from "../../json/json-text.ts";
import { metaKey, withResult } from "../protocol/envelope.ts";
import { type Message, ownMessage, textAt } from "../protocol/message.ts";
import { edited, replaced } from "../protocol/message-edit.ts";
import { fieldOf } from "../protocol/message-fields.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import { clientDeclaration } from "./stateless-request.ts";

/** The members of a server's `initialize` result that matter to clients without sessions. */
export interface OpenedServer {
  readonly protocolVersion?: unknown;
  readonly capabilities?: {
    readonly [name: string]: { readonly listChanged?: unknown; readonly subscribe?: unknown };
  };
  readonly serverInfo?: unknown;
  readonly instructions?: unknown;
}

/**
 * Builds the response to `server/discover` from the capabilities of a server with sessions, without tasks, which depend on
 * sessions.
 */
export function discoverResponse(id: string, opened: OpenedServer): Message {
  const { tasks: _, ...capabilities } = opened.capabilities ?? {};
  const result = {
    resultType: "complete",
    supportedVersions: [STATELESS_REVISION],
    capabilities,
    instructions: opened.instructions,
    ttlMs: 0,
    cacheScope: "private",
    _meta: { [metaKey.serverInfo]: opened.serverInfo },
  };
  return ownMessage(rpcResult(id, JSON.stringify(result)));
}

/** Adds the members that clients without sessions require to a response; it must not be cached or shared. */
export function statelessResponse(
  request: Message,
  response: Message,
  { serverInfo }: OpenedServer,
): Message {
  if (response.result === undefined) return statelessError(request, response);
  const meta = serverInfo === undefined ? {} : { [metaKey.serverInfo]: JSON.stringify(serverInfo) };
  const shown = request.method === "tools/list" ? withoutTasks(response) : response;
  return withResult(shown, meta, {
    resultType: '"complete"',
    ...(CACHEABLE.has(request.method) ? { ttlMs: "0", cacheScope: '"private"' } : {}),
  });
}

/** Error codes of revisions with sessions that the stateless revision expresses differently. */
const sessionCode = { resourceNotFound: -32002, urlElicitationRequired: -32042 } as const;

function statelessError(request: Message, response: Message): Message {
  const { error }: { readonly error: ErrorOfSession } = JSON.parse(response.text);
  switch (error.code) {
    case sessionCode.resourceNotFound:
      return ownMessage(rpcError(response.id, rpcCode.invalidParams, error.message, error.data));
    case sessionCode.urlElicitationRequired:
      return urlElicitation(request, error);
    default:
      return response;
  }
}

interface ErrorOfSession {
  readonly code: number;
  readonly message: string;
  readonly data?: { readonly elicitations?: readonly UrlElicitation[] };
}

interface UrlElicitation {
  readonly message?: unknown;
  readonly url?: unknown;
}

/** Converts a required visit to a URL to an input request. No call waits meanwhile, so there is no state. */
function urlElicitation(request: Message, { message, data }: ErrorOfSession): Message {
  const { elicitation }: { readonly elicitation?: { readonly url?: unknown } } = JSON.parse(
    clientDeclaration(request).capabilities,
  );
  if (elicitation?.url === undefined) {
    const requiredCapabilities = { elicitation: { url: {} } };
    return ownMessage(
      rpcError(request.id, rpcCode.missingCapability, message, { requiredCapabilities }),
    );
  }
  const asked = (data?.elicitations ?? []).map((each, at) => {
    const params = { mode: "url", message: each.message, url: each.url };
    return [`r${at + 1}`, { method: "elicitation/create", params }];
  });
  const inputRequests = Object.fromEntries(asked);
  return ownMessage(
    rpcResult(request.id, JSON.stringify({ resultType: "input_required", inputRequests })),
  );
}

/** Removes task support from tools: tasks depend on sessions, so tools that require one cannot be called. */
function withoutTasks(response: Message): Message {
  const { text, result } = response;
  if (result === undefined || !text.includes('"execution"')) return response;
  const at = fieldOf(text, result, "tools");
  if (at === undefined || !isArrayAt(text, at.start)) return response;
  const tools = elementsOf(text, at.start).flatMap((tool) => {
    if (!isObjectAt(text, tool.start)) return [textAt(text, tool)];
    const { execution }: { readonly execution?: { readonly taskSupport?: unknown } | null } =
      JSON.parse(textAt(text, tool));
    if (execution?.taskSupport === "required") return [];
    const kept = objectMembers(text, tool.start).filter(({ key }) => key !== "execution");
    return [`{${kept.map(({ keyStart, end }) => text.slice(keyStart, end)).join(",")}}`];
  });
  return edited(response, [replaced(at, `[${tools.join(",")}]`)]);
}

const CACHEABLE: ReadonlySet<string> = new Set([
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);
