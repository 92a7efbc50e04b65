import { headerValue } from "../../http/headers/header-list.ts";
import type { Upstream, UpstreamRequest } from "../../http/upstream/upstream.ts";
import { parseExact } from "../../json/exact-json.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { schemaProblem } from "../../json/json-schema.ts";
import { CONTEXT_FIELDS } from "../protocol/envelope.ts";
import { type Message, readMessage, textAt } from "../protocol/message.ts";
import { NEWEST_SESSION_REVISION } from "../protocol/revisions.ts";
import { rpcCode, rpcError, rpcResult } from "../protocol/rpc-response.ts";
import { HEADER_TEXT, openApiRequest } from "./openapi-request.ts";
import type { OpenApiTool } from "./openapi-tool.ts";
import { argumentsIn } from "./openapi-values.ts";
import type { Transport, TransportEvents, TransportHost } from "./transport.ts";

/** An HTTP API with its tools. */
export interface OpenApi {
  /** The target's name. */
  readonly name: string;
  readonly upstream: Upstream;
  /** By tool name. */
  readonly tools: ReadonlyMap<string, OpenApiTool>;
  /** The result of `tools/list`, as JSON text. */
  readonly list: string;
}

/**
 * Opens an in-process MCP server whose tools are the operations of an HTTP API; each tool call is one HTTP request.
 * `headers` is the flat list of end-to-end headers that every request carries.
 */
export function openOpenApiTransport(
  api: OpenApi,
  headers: readonly string[],
  host: TransportHost,
  events: TransportEvents,
): Transport {
  return new OpenApiTransport(api, headers, host, events);
}

/** The supported revisions of MCP; clients that request another one get the newest. */
const VERSIONS: ReadonlySet<string> = new Set([
  "2025-03-26",
  "2025-06-18",
  NEWEST_SESSION_REVISION,
]);

class OpenApiTransport implements Transport {
  readonly #api: OpenApi;
  readonly #headers: readonly string[];
  readonly #limit: number;
  readonly #events: TransportEvents;
  /** Calls in flight, by the JSON text of their ids. */
  readonly #calls = new Map<string, UpstreamRequest>();
  /** Responses that wait while reading is paused. */
  readonly #waiting: string[] = [];
  #isOpen = true;
  #isPaused = false;

  constructor(
    api: OpenApi,
    headers: readonly string[],
    host: TransportHost,
    events: TransportEvents,
  ) {
    this.#api = api;
    this.#headers = headers;
    this.#limit = host.messageLimit;
    this.#events = events;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): void {
    const message = readMessage(text);
    if (message.kind === "notification") this.#cancel(message);
    // Responses are ignored: this server never sends requests.
    if (message.kind === "request") this.#serve(message);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    for (const text of this.#waiting.splice(0)) this.#respond(text);
  }

  close(): void {
    this.#isOpen = false;
    for (const call of this.#calls.values()) call.abort();
    this.#calls.clear();
  }

  #cancel({ method, text, params }: Message): void {
    if (method !== "notifications/cancelled" || params === undefined) return;
    const { requestId } = JSON.parse(textAt(text, params));
    const id = JSON.stringify(requestId);
    this.#calls.get(id)?.abort();
    this.#calls.delete(id);
  }

  #serve(request: Message): void {
    const response = request.method === "tools/call" ? this.#call(request) : this.#own(request);
    if (response !== undefined) this.#respond(response);
  }

  /** Answers requests that need no call to the API. */
  #own(request: Message): string {
    const { id, method } = request;
    switch (method) {
      case "initialize":
        return rpcResult(id, this.#initialized(request));
      case "ping":
        return rpcResult(id, "{}");
      case "tools/list":
        return rpcResult(id, this.#api.list);
      default:
        return rpcError(id, rpcCode.methodNotFound, "Method not found");
    }
  }

  #initialized({ text, params }: Message): string {
    const { protocolVersion } = params === undefined ? {} : JSON.parse(textAt(text, params));
    return JSON.stringify({
      protocolVersion: VERSIONS.has(protocolVersion) ? protocolVersion : NEWEST_SESSION_REVISION,
      capabilities: { tools: {} },
      serverInfo: { name: this.#api.name, version: "1" },
    });
  }

  /**
   * Starts a tool call. Returns a response if the call fails before a request is sent; `undefined` if the API responds
   * later.
   */
  #call({ id, text, params }: Message): string | undefined {
    const {
      name,
      arguments: given = {},
      _meta: meta,
    } = argumentsIn(params === undefined ? {} : parseExact(textAt(text, params)));
    const tool = this.#api.tools.get(String(name));
    if (tool === undefined) return rpcError(id, rpcCode.invalidParams, `Unknown tool: ${name}`);
    const problem = schemaProblem(tool.inputSchema, given, "");
    if (problem !== undefined) return failedCall(id, problem);
    const request = openApiRequest(tool, given);
    if (request.kind === "problem") return failedCall(id, request.problem);
    this.#send(id, tool, request, contextOf(argumentsIn(meta)));
    return undefined;
  }

  #send(
    id: string,
    { method }: OpenApiTool,
    request: Extract<ReturnType<typeof openApiRequest>, { readonly kind: "request" }>,
    context: readonly string[],
  ): void {
    const { upstream } = this.#api;
    const received: Buffer[] = [];
    let status = 0;
    let type = "";
    let location: string | undefined;
    let size = 0;
    const call = upstream.send(
      {
        method,
        path: `${upstream.basePath}${request.path}`,
        headers: this.#headersWith(request.headers, context),
        body: request.body,
      },
      {
        onHead: (head, headers) => {
          status = head;
          type = headerValue(headers, "content-type") ?? "";
          location = headerValue(headers, "location");
        },
        onData: (chunk) => {
          size += chunk.length;
          if (size <= this.#limit) received.push(chunk);
          else if (this.#calls.delete(id)) {
            call.abort();
            this.#respond(failedCall(id, "the response is over the size limit"));
          }
          return true;
        },
        onEnd: () => {
          if (!this.#calls.delete(id)) return;
          this.#respond(
            rpcResult(id, toolResult({ status, type, location }, Buffer.concat(received))),
          );
        },
        onError: ({ kind }) => {
          if (!this.#calls.delete(id)) return;
          this.#respond(failedCall(id, `the request to the API failed (${kind})`));
        },
      },
    );
    this.#calls.set(id, call);
  }

  /** Adds headers of the arguments; they cannot override headers of the gateway's policies or the trace context. */
  #headersWith(
    given: readonly (readonly [name: string, value: string])[],
    context: readonly string[],
  ): string[] {
    const own = [...this.#headers, ...context];
    const added = given.filter(([name]) => headerValue(own, name) === undefined);
    return [...own, "accept", "application/json, */*;q=0.5", ...added.flat()];
  }

  #respond(text: string): void {
    if (this.#isPaused) this.#waiting.push(text);
    // Callers register for the response only after `send` returns.
    else queueMicrotask(() => this.#isOpen && this.#events.onMessage(text));
  }
}

/**
 * Returns a failed tool result. Errors that a model can correct are results, not protocol errors (MCP, tools, error
 * handling).
 */
function failedCall(id: string, text: string): string {
  return rpcResult(id, JSON.stringify({ content: [{ type: "text", text }], isError: true }));
}

/** The head of a response, as far as a result depends on it. */
interface ResponseHead {
  readonly status: number;
  /** Its media type; empty if unknown. */
  readonly type: string;
  readonly location: string | undefined;
}

/**
 * Returns the result of a call. A JSON object becomes structured content, and also text for clients that support only that.
 * Redirects are not followed: the model gets to know the location.
 */
function toolResult(head: ResponseHead, body: Buffer): string {
  const { status, type } = head;
  const isError = status >= 300 || status < 200;
  const text = body.toString("utf8");
  const structured = isError || !/[/+]json\b/i.test(type) ? undefined : objectText(text);
  const [, medium] = (isError ? null : /^(image|audio)\//i.exec(type)) ?? [];
  const content =
    medium === undefined
      ? { type: "text", text: isError ? errorText(head, text) : text }
      : { type: medium.toLowerCase(), mimeType: type, data: body.toString("base64") };
  const rest = structured === undefined ? "" : `,"structuredContent":${structured}`;
  return `{"content":[${JSON.stringify(content)}],"isError":${isError}${rest}}`;
}

function errorText({ status, location }: ResponseHead, body: string): string {
  const isMoved = status >= 300 && status < 400 && location !== undefined;
  const detail = isMoved ? `redirect to ${location}, which was not followed` : body;
  return detail === "" ? String(status) : `${status}: ${detail}`;
}

/** Returns the string if it is a JSON object. */
function objectText(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? text : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the trace context of a message (SEP-414) as headers for the API: a flat list. */
function contextOf(meta: Readonly<Record<string, unknown>>): readonly string[] {
  return CONTEXT_FIELDS.flatMap((name) => {
    const value = meta[name];
    return typeof value === "string" && HEADER_TEXT.test(value) ? [name, value] : [];
  });
}
