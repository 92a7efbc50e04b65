import type { Exchange } from "../../http/exchange.ts";
import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import type { Message } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";
import { mcpMetrics } from "../rules/mcp-metrics.ts";
import { ClientStream } from "../session/client-stream.ts";
import type { OwnedRequest } from "../transports/item-owners.ts";
import type { McpTarget } from "../transports/target.ts";
import type { ToolFront } from "../transports/tool-front.ts";
import { listResult } from "./aggregate-lists.ts";
import { NotedHeaders } from "./noted-headers.ts";
import { type OtherTools, type ShownTool, type ToolView, ToolViews } from "./tool-views.ts";
import { entryOf, type VisibleItem, wholeList } from "./whole-list.ts";

/** Creates the views of a backend. */
export function toolViews(views: readonly ToolView[], others?: OtherTools): ToolFront {
  return new ViewedTools(new ToolViews(views, others));
}

/** A tool with the item that its target lists. */
export type SeenTool = VisibleItem & ShownTool;

/** The tools that a caller may see. */
export interface SeenTools {
  readonly tools: readonly SeenTool[];
  /** Names of the targets that failed. */
  readonly missing: readonly string[];
}

/** Lists the tools of all targets as configured views show them. */
class ViewedTools implements ToolFront {
  readonly #views: ToolViews;
  readonly #headers = new NotedHeaders();

  constructor(views: ToolViews) {
    this.#views = views;
  }

  meant(message: Message): Message | string {
    return this.#views.meant(message);
  }

  shownAs(kind: McpPrimitiveKind, name: string): string {
    return this.#views.shownAs(kind, name);
  }

  serves({ kind, method }: Message): boolean {
    return kind === "request" && method === "tools/list";
  }

  serve(owned: OwnedRequest): void {
    const { exchange, backend, request } = owned;
    const { method } = request;
    mcpMetrics(exchange).handedOn(exchange, { method });
    const stream = new ClientStream(exchange, request.id, backend.timeouts.keepAlive);
    void serveTools(owned, stream, askTools(owned, stream, this.#views, this.#headers));
  }

  notice(): void {}

  paramHeaders(exchange: Exchange, target: McpTarget, request: Message) {
    return this.#views.has(exchange.header("mcp-name"))
      ? this.#headers.of(target, request)
      : undefined;
  }
}

/** Responds to a request for a list; `textsOf` returns the definitions in it. */
export async function serveTools(
  owned: OwnedRequest,
  stream: ClientStream,
  asked: Promise<SeenTools | TargetFailure>,
  textsOf = (tools: readonly SeenTool[]): readonly string[] => tools.map(({ text }) => text),
): Promise<void> {
  const { exchange, request } = owned;
  const found = await asked;
  if (exchange.isOver) return;
  if ("kind" in found) stream.fail(found);
  else if (paramOf(request, "cursor") !== undefined)
    stream.response(rpcError(request.id, rpcCode.invalidParams, "Invalid cursor"));
  else {
    const list = { entries: textsOf(found.tools), missing: found.missing };
    stream.response(rpcResult(request.id, listResult(owned, "tools", list)));
  }
}

/** Asks the targets for their tools, and returns those that the caller may see as it sees them. */
export async function askTools(
  owned: OwnedRequest,
  stream: ClientStream,
  views: ToolViews,
  headers: NotedHeaders,
  reserved: ReadonlySet<string> = new Set(),
): Promise<SeenTools | TargetFailure> {
  const { exchange } = owned;
  const found = await wholeList(owned, "tools", {
    onMessage: ({ forClient }, message) => {
      const shown = forClient(message);
      return shown === undefined || stream.message(shown.text);
    },
    onHidden: () => {},
  });
  if ("kind" in found) return found;
  const tools = found.items.flatMap((each) => {
    if (views.hides(each)) return [];
    headers.note(each);
    const shown = views.shown(each, entryOf(owned, each));
    if (shown !== undefined && !reserved.has(shown.name)) return [{ ...each, ...shown }];
    const why = `${shown?.name ?? each.name} is a name that the gateway uses`;
    const { target } = each.owner;
    mcpMetrics(exchange).omitted(exchange, target.name, each.item, why);
    return [];
  });
  return { tools, missing: found.missing };
}
