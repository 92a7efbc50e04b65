import { randomUUID } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";

/**
 * One replica of a real MCP server: it knows the sessions that began at it, and no others. Its tool `where` says its name. Over
 * HTTP+SSE it is at `/sse`.
 */
export class SessionReplica {
  /** By their ids. */
  readonly sessions = new Map<string, StreamableHTTPServerTransport>();
  /** Requests for sessions that did not begin at it: `GET`, `POST` or `DELETE`. */
  readonly foreign: string[] = [];
  /** Streams that clients opened in its sessions. */
  streams = 0;
  readonly #name: string;
  /** The ids of all sessions that did, ended or not. */
  readonly #began = new Set<string>();
  readonly #streamed = new Map<string, SSEServerTransport>();

  constructor(name: string) {
    this.#name = name;
  }

  readonly listener: RequestListener = (request, response) => {
    const path = request.url ?? "";
    if (path.startsWith("/sse")) void this.#stream(response);
    else if (path.startsWith("/messages")) void this.#takeMessage(request, response);
    else void this.#serve(request, response);
  };

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["mcp-session-id"];
    const known = this.sessions.get(String(id));
    if (id !== undefined && known === undefined) return this.#refuse(request, response, String(id));
    if (known !== undefined) {
      if (request.method === "GET") this.streams += 1;
      return known.handleRequest(request, response);
    }
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (own) => {
        this.#began.add(own);
        this.sessions.set(own, transport);
      },
      onsessionclosed: (own) => void this.sessions.delete(own),
    });
    await this.#connect(transport);
    return transport.handleRequest(request, response);
  }

  async #stream(response: ServerResponse): Promise<void> {
    const transport = new SSEServerTransport("/messages", response);
    this.#streamed.set(transport.sessionId, transport);
    await this.#connect(transport);
  }

  async #takeMessage(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = new URL(request.url ?? "", "http://localhost").searchParams.get("sessionId") ?? "";
    const known = this.#streamed.get(id);
    if (known === undefined) this.#refuse(request, response, id);
    else await known.handlePostMessage(request, response);
  }

  #refuse({ method = "" }: IncomingMessage, response: ServerResponse, id: string): void {
    if (!this.#began.has(id)) this.foreign.push(method);
    response.writeHead(404).end("no such session");
  }

  async #connect(transport: StreamableHTTPServerTransport | SSEServerTransport): Promise<void> {
    const server = new McpServer({ name: this.#name, version: "1.0.0" });
    server.registerTool("where", {}, () => ({ content: [{ type: "text", text: this.#name }] }));
    await server.connect(transport as Parameters<typeof server.connect>[0]);
  }
}
