import { createHash } from "node:crypto";
import type { Exchange } from "../../http/exchange.ts";
import { calledName, calledTool } from "../protocol/called-tool.ts";
import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { unknownPrimitive } from "../protocol/primitives.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { isListed } from "../rules/authorization.ts";
import { callerOf } from "../rules/lock-check.ts";
import { mcpMetrics } from "../rules/mcp-metrics.ts";
import { ClientStream } from "../session/client-stream.ts";
import type { OwnedRequest } from "../transports/item-owners.ts";
import type { McpTarget } from "../transports/target.ts";
import type { ToolFront } from "../transports/tool-front.ts";
import { objectOf } from "./initialize-result.ts";
import { NotedHeaders, stored } from "./noted-headers.ts";
import { recordPrimitive } from "./permission.ts";
import { ToolIndex } from "./tool-index.ts";
import { type ToolView, ToolViews } from "./tool-views.ts";
import { askTools, type SeenTool, type SeenTools, serveTools } from "./viewed-tools.ts";

/** Settings of a search. */
export interface ToolSearchSettings {
  /** Number of visible tools beyond which lists contain the gateway's tools instead. */
  readonly above: number;
  /** Maximum number of tools that a search returns. */
  readonly maxResults: number;
  /** Names of the gateway's tools. */
  readonly names: ToolSearchNames;
  /** Absent if clients see all tools as their targets list them. */
  readonly views?: readonly ToolView[];
  /** Absent if clients see tools without a view. */
  readonly others?: "hidden";
}

/** Names of the gateway's tools. */
export interface ToolSearchNames {
  readonly search: string;
  readonly describe: string;
  readonly call: string;
}

/** Milliseconds for which the tools of a caller are valid. */
const MAX_AGE = 10_000;

/** Maximum number of callers whose tools are cached. */
const MAX_CALLERS = 1000;

/** Maximum number of different sets of tools in the cache. */
const MAX_INDEXES = 32;

/** Creates the search for a backend. */
export function toolSearch(settings: ToolSearchSettings): ToolFront {
  return new SearchedTools(settings);
}

/** Tools as far as their callers have seen them. Each set of tools has its own index, so ranks tell nothing of hidden tools. */
class SearchedTools implements ToolFront {
  readonly #settings: ToolSearchSettings;
  readonly #own: ReadonlySet<string>;
  readonly #callers = new Map<string, { readonly at: number; readonly index: ToolIndex }>();
  /** By digest of the tools. */
  readonly #indexes = new Map<string, ToolIndex>();
  readonly #headers = new NotedHeaders();
  readonly #views: ToolViews;

  constructor(settings: ToolSearchSettings) {
    this.#settings = settings;
    this.#own = new Set(Object.values(settings.names));
    this.#views = new ToolViews(settings.views ?? [], settings.others);
  }

  meant(message: Message): Message | string {
    const { call } = this.#settings.names;
    const called = calledTool(message, call);
    if (typeof called === "string") return `Invalid params: ${called}`;
    const name = calledName(called) ?? "";
    if (called !== message && this.#own.has(name))
      return `Invalid params: ${call} cannot call ${name}`;
    return this.#own.has(name) ? message : this.#views.meant(called);
  }

  shownAs(kind: McpPrimitiveKind, name: string): string {
    return this.#views.shownAs(kind, name);
  }

  serves(message: Message): boolean {
    if (message.kind !== "request") return false;
    return message.method === "tools/list" || this.#own.has(calledName(message) ?? "");
  }

  serve(owned: OwnedRequest): void {
    const { exchange, backend, request } = owned;
    const { method } = request;
    const name = calledName(request);
    if (name !== undefined) recordPrimitive(exchange, "tool", name, undefined);
    const subject = name === undefined ? { method } : { method, item: name };
    mcpMetrics(exchange).handedOn(exchange, subject);
    const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
    if (name === undefined) this.#serveList(owned, stream);
    else if (name === this.#settings.names.search) void this.#serveSearch(owned, stream);
    else void this.#serveDescribe(owned, stream);
  }

  notice({ method }: Message): void {
    if (method === "notifications/tools/list_changed") this.#callers.clear();
  }

  paramHeaders(
    exchange: Exchange,
    target: McpTarget,
    request: Message,
  ): readonly string[] | undefined {
    const name = exchange.header("mcp-name");
    const isChanged = name === this.#settings.names.call || this.#views.has(name);
    return isChanged ? this.#headers.of(target, request) : undefined;
  }

  #serveList(owned: OwnedRequest, stream: ClientStream): void {
    void serveTools(owned, stream, this.#ask(owned, stream), (tools) =>
      tools.length > this.#settings.above
        ? this.#ownTools(new ToolIndex(tools))
        : tools.map(({ text }) => text),
    );
  }

  async #serveSearch(owned: OwnedRequest, stream: ClientStream): Promise<void> {
    const { exchange, request, access } = owned;
    const { maxResults } = this.#settings;
    const { query, limit = maxResults } = argumentsOf(request);
    if (typeof query !== "string") {
      refuse(stream, request, "Invalid params: arguments.query must be a string");
      return;
    }
    if (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1) {
      refuse(stream, request, "Invalid params: arguments.limit must be a positive integer");
      return;
    }
    const index = await this.#indexFor(owned, stream);
    if (index === undefined) return;
    const most = Math.min(limit, maxResults);
    const tools = [];
    for (const tool of index.search(query)) {
      // Rules may have become stricter since the tools were listed.
      if (!isListed(access, exchange, tool.owner.target.name, tool.item)) continue;
      if (tools.push(index.summary(tool)) === most) break;
    }
    stream.response(textResult(owned, JSON.stringify({ tools })));
  }

  async #serveDescribe(owned: OwnedRequest, stream: ClientStream): Promise<void> {
    const { exchange, request, access } = owned;
    const { name } = argumentsOf(request);
    if (typeof name !== "string") {
      refuse(stream, request, "Invalid params: arguments.name must be a string");
      return;
    }
    const index = await this.#indexFor(owned, stream);
    if (index === undefined) return;
    const tool = index.find(name);
    if (tool === undefined || !isListed(access, exchange, tool.owner.target.name, tool.item))
      refuse(stream, request, unknownPrimitive("tool", name));
    else stream.response(textResult(owned, tool.text));
  }

  /** Returns the caller's tools; responds with the failure and returns `undefined` if targets do not list them. */
  async #indexFor(owned: OwnedRequest, stream: ClientStream): Promise<ToolIndex | undefined> {
    const { exchange, access } = owned;
    const cached = this.#callers.get(callerOf(exchange, access.jwt));
    if (cached !== undefined && Date.now() - cached.at < MAX_AGE) return cached.index;
    const found = await this.#ask(owned, stream);
    if (exchange.isOver) return undefined;
    if (!("kind" in found)) return this.#shared(found.tools);
    stream.fail(found);
    return undefined;
  }

  /** Asks the targets for their tools, and caches those that the caller may see. */
  async #ask(owned: OwnedRequest, stream: ClientStream): Promise<SeenTools | TargetFailure> {
    const { exchange, access } = owned;
    const found = await askTools(owned, stream, this.#views, this.#headers, this.#own);
    if ("kind" in found) return found;
    const index = this.#shared(found.tools);
    stored(this.#callers, callerOf(exchange, access.jwt), { at: Date.now(), index }, MAX_CALLERS);
    return found;
  }

  /** Returns the index of these tools, which callers with the same tools share. */
  #shared(tools: readonly SeenTool[]): ToolIndex {
    const digest = createHash("sha256");
    for (const { owner, text } of tools) digest.update(`${owner.index} ${text}\n`);
    const key = digest.digest("base64url");
    const index = this.#indexes.get(key) ?? new ToolIndex(tools);
    stored(this.#indexes, key, index, MAX_INDEXES);
    return index;
  }

  /** Returns the definitions of the gateway's tools, as JSON text. */
  #ownTools(index: ToolIndex): readonly string[] {
    const { names, maxResults } = this.#settings;
    const count = index.tools.length;
    const readOnly = { annotations: { readOnlyHint: true, openWorldHint: false } };
    const name = { type: "string", description: `Name of a tool, from ${names.search}.` };
    const tools = [
      {
        name: names.search,
        description: `Finds tools by words about what they do. This server has ${count} tools of: ${index.targets().join(", ")}. Read the definition with ${names.describe}, then call the tool with ${names.call}.`,
        inputSchema: objectSchema({
          query: { type: "string", description: "Words about the task, such as: create issue." },
          limit: { type: "integer", minimum: 1, maximum: maxResults, default: maxResults },
        }),
        ...readOnly,
      },
      {
        name: names.describe,
        description: "Returns the definition of a tool, with the JSON schema of its arguments.",
        inputSchema: objectSchema({ name }),
        ...readOnly,
      },
      {
        name: names.call,
        description: `Calls a tool that ${names.search} has found.`,
        inputSchema: objectSchema({
          name,
          arguments: { type: "object", description: "Arguments by the tool's own schema." },
        }),
      },
    ];
    return tools.map((tool) => JSON.stringify(tool));
  }
}

/** Returns the schema of arguments, of which the first is required. */
function objectSchema(properties: Readonly<Record<string, object>>) {
  return { type: "object", properties, required: Object.keys(properties).slice(0, 1) };
}

function argumentsOf(request: Message) {
  const at = paramOf(request, "arguments");
  return objectOf(at === undefined ? undefined : JSON.parse(textAt(request.text, at)));
}

function refuse(stream: ClientStream, { id }: Message, message: string): void {
  stream.response(rpcError(id, rpcCode.invalidParams, message));
}

/** Writes the response to a call of a tool of the gateway. */
function textResult({ request, isStateless }: OwnedRequest, text: string): string {
  const result = { content: [{ type: "text", text }] };
  const members = isStateless ? { ...result, resultType: "complete" } : result;
  return rpcResult(request.id, JSON.stringify(members));
}
