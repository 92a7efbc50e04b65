import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import { listen } from "../harness/listen.ts";

/** A request that an upstream received. */
export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  /** Whether the connection was closed before the end of the response. */
  isLeft: boolean;
}

/** Answers a request; `message` is its body, parsed leniently ({} if it is not an object). */
export type Response = (
  response: ServerResponse,
  request: SeenRequest,
  message: { readonly [name: string]: unknown },
) => void;

/** An HTTP server that records its requests. */
export interface RawUpstream {
  readonly url: string;
  readonly seen: SeenRequest[];
  response: Response;
}

/** Starts an upstream on a free port. It is stopped at the end of the test. */
export async function startUpstream(response: Response): Promise<RawUpstream> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks);
      const { method = "", url: target = "", headers } = request;
      const one: SeenRequest = {
        method,
        target,
        headers,
        body,
        text: body.toString(),
        isLeft: false,
      };
      seen.push(one);
      response.on("close", () => {
        if (!response.writableFinished) one.isLeft = true;
      });
      upstream.response(response, one, parse(one.text));
    });
  });
  const upstream: RawUpstream = {
    url: `http://127.0.0.1:${await listen(server)}/mcp`,
    seen,
    response,
  };
  return upstream;
}

/** Returns a minimal MCP server: sessions, and `results` by method as JSON text. */
export function mcpResponses(
  results: Readonly<Record<string, string>>,
  framing: "json" | "sse" = "json",
): Response {
  let sessions = 0;
  return (response, { method, text }, message) => {
    if (method === "DELETE") return void response.writeHead(200).end();
    if (method === "GET") return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    const id = /"id"\s*:\s*("[^"]*"|[-0-9.eE+]+)/.exec(text)?.[1];
    const isOpening = message.method === "initialize";
    const result = isOpening
      ? (results.initialize ?? initializeResult)
      : results[String(message.method)];
    const body =
      result === undefined
        ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`
        : `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
    const headers = isOpening ? { "mcp-session-id": `upstream-${++sessions}` } : {};
    if (framing === "json") {
      return void response
        .writeHead(200, { ...headers, "content-type": "application/json" })
        .end(body);
    }
    response.writeHead(200, { ...headers, "content-type": "text/event-stream" });
    response.end(`event: message\nid: e1\ndata: ${body}\n\n`);
  };
}

const initializeResult = JSON.stringify({
  protocolVersion: "2025-06-18",
  capabilities: { tools: { listChanged: true }, prompts: {}, resources: {} },
  serverInfo: { name: "raw", version: "1" },
});

function parse(text: string): { readonly [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
