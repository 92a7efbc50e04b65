import type { JsonObject, McpVariables } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { applyEdits } from "../json/json-text.ts";
import {
  askAboutRequest,
  askAboutResult,
  type MessageProcessor,
  runsOn,
} from "../policies/mcp-guardrails.ts";
import { ownName, prefixedName } from "./aggregate/names.ts";
import { interceptResults, refuseResumedResults } from "./guarded-responses.ts";
import type { McpPrimitiveKind } from "./protocol/item-lists.ts";
import { type Message, readMessage, textAt } from "./protocol/message.ts";
import { edited, paramOf, replaced, stringParamOf } from "./protocol/message-edit.ts";
import {
  type RpcError,
  respondRpcError,
  responseId,
  rpcCode,
  rpcError,
  rpcResult,
} from "./protocol/rpc-response.ts";
import { callArguments } from "./rules/call-arguments.ts";
import { type MessageReading, replaceMessage, sentMessage } from "./sent-message.ts";

/** The processors of a route, in order. */
export interface Guardrails extends MessageReading {
  readonly processors: readonly MessageProcessor[];
  /** Names of the MCP servers. */
  readonly servers: readonly string[];
  /** Whether clients see names of items with the name of their server before them. */
  readonly hasPrefixes: boolean;
}

/** Values of the processors' metadata for a message, in the order of processors; `undefined` for those without any. */
type Metadata = readonly (JsonObject | undefined)[];

/** Checks a request, and prepares the check of its response. Resolves with false if the request was refused. */
export async function guardMessages(
  exchange: Exchange,
  guardrails: Guardrails,
  metadataOf: (mcp: McpVariables) => Metadata = () => [],
): Promise<boolean> {
  if (exchange.method === "GET" && checksResults(guardrails))
    refuseResumedResults(exchange, guardrails.limit);
  const sent = await sentMessage(exchange, guardrails);
  if (typeof sent === "boolean") return sent;
  const { given, meant } = sent;
  if (meant.kind === "response") return true;
  const metadata = metadataOf(variablesOf(meant, guardrails));
  const checked = await checkedRequest(exchange, guardrails, meant, metadata);
  if (exchange.isOver) return false;
  if ("error" in checked) {
    const id = responseId(meant);
    respondRpcError(exchange, 200, "MCP", { id, ...checked.error });
    return false;
  }
  if (checked.message !== given) replaceMessage(exchange, checked.message);
  guardResult(exchange, guardrails, checked.message, metadata);
  return true;
}

/** Returns `mcp` of expressions for a message. Of several servers without prefixes, the one of an item is unknown. */
function variablesOf(message: Message, guardrails: Guardrails): McpVariables {
  const { method: methodName } = message;
  const [param, kind] = NAMED[methodName] ?? [];
  if (param === undefined || kind === undefined) return { methodName };
  const own = ownNames(message, guardrails);
  const name = stringParamOf(own.message, param);
  if (name === undefined) return { methodName };
  const target = own.servers.length === 1 ? (own.servers[0] ?? "") : "";
  const read = kind === "tool" ? callArguments(message) : "";
  const item = { name, target, ...(typeof read === "object" && { arguments: read }) };
  return { methodName, [kind]: item };
}

/** A request that continues with its changes, or the error for the client. */
type CheckedRequest = { readonly message: Message } | { readonly error: RpcError };

async function checkedRequest(
  exchange: Exchange,
  guardrails: Guardrails,
  given: Message,
  metadata: Metadata,
): Promise<CheckedRequest> {
  let message = given;
  for (const [index, processor] of guardrails.processors.entries()) {
    const { method } = message;
    if (!runsOn(processor, "request", method)) continue;
    const own = ownNames(message, guardrails);
    const { text, params } = own.message;
    const checked = await askAboutRequest(exchange, processor, {
      servers: own.servers,
      method,
      content: params && textAt(text, params),
      metadata: metadata[index],
    });
    if (checked.kind === "refused") return checked;
    if (checked.content === undefined || params === undefined) continue;
    const changed = readMessage(applyEdits(text, [{ ...params, text: checked.content }]));
    if (changed.kind === "problem")
      return { error: { code: rpcCode.internal, message: changed.message } };
    message = own.restore(changed);
  }
  return { message };
}

/** A message with the names that its server has, and the way back. */
interface OwnNames {
  readonly message: Message;
  readonly servers: readonly string[];
  readonly restore: (message: Message) => Message;
}

/** The parameter with the name of an item, and the kind of the item. */
const NAMED: Readonly<Record<string, readonly [param: string, kind: McpPrimitiveKind]>> = {
  "tools/call": ["name", "tool"],
  "prompts/get": ["name", "prompt"],
  "resources/read": ["uri", "resource"],
};

function ownNames(message: Message, { servers, hasPrefixes }: Guardrails): OwnNames {
  const unchanged = { message, servers, restore: (changed: Message) => changed };
  const [param, kind] = NAMED[message.method] ?? [];
  const shown = param === undefined ? undefined : stringParamOf(message, param);
  if (!hasPrefixes || param === undefined || kind === undefined || shown === undefined)
    return unchanged;
  for (const server of servers) {
    const name = ownName(server, kind, shown);
    if (name === undefined) continue;
    return {
      message: withParam(message, param, name),
      servers: [server],
      restore: (changed) => {
        const own = stringParamOf(changed, param) ?? "";
        return withParam(changed, param, prefixedName(server, kind, own));
      },
    };
  }
  return unchanged;
}

function withParam(message: Message, param: string, value: string): Message {
  const at = paramOf(message, param);
  return at === undefined ? message : edited(message, [replaced(at, JSON.stringify(value))]);
}

/** Prepares the check of the request's result. */
function guardResult(
  exchange: Exchange,
  guardrails: Guardrails,
  request: Message,
  metadata: Metadata,
): void {
  const { method } = request;
  const asked = guardrails.processors.flatMap((processor, index) =>
    runsOn(processor, "response", method) ? [{ processor, metadata: metadata[index] }] : [],
  );
  if (asked.length === 0) return;
  const { servers } = ownNames(request, guardrails);
  interceptResults(exchange, guardrails.limit, async ({ text, id, result }) => {
    const given = result === undefined ? "" : textAt(text, result);
    let content = given;
    for (const { processor, metadata: own } of asked) {
      const question = { servers, method, content, metadata: own };
      const checked = await askAboutResult(exchange, processor, question);
      if (checked.kind === "refused") {
        const { code, message, data } = checked.error;
        return rpcError(id, code, message, data);
      }
      content = checked.content ?? content;
    }
    return content === given ? text : rpcResult(id, content);
  });
}

/** Whether results of any method are checked. */
function checksResults({ processors }: Guardrails): boolean {
  return processors.some(({ methods }) =>
    Object.values(methods).some((phase) => phase === "response" || phase === "full"),
  );
}
