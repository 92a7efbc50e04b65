import { request as httpRequest, type IncomingHttpHeaders } from "node:http";

/** A complete response. */
export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

/** The request to send; the headers of the MCP transport are added unless they are replaced. `null` omits one. */
export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[] | null>>;
  readonly body?: string | Buffer;
  /** Number of bytes to read before the client disconnects. */
  readonly leaveAfter?: number;
}

/** Sends one request over its own connection, with the bytes, header names and values as given. */
export function send(url: string, options: RawRequest = {}): Promise<RawResponse> {
  const { method = "POST", body, leaveAfter } = options;
  const headers = headersOf(options);
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      const finish = () => {
        const bytes = Buffer.concat(chunks);
        const { statusCode: status = 0, headers: responded } = response;
        resolve({ status, headers: responded, body: bytes, text: bytes.toString() });
      };
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        if (leaveAfter !== undefined && Buffer.concat(chunks).length >= leaveAfter) {
          request.destroy();
          finish();
        }
      });
      response.on("end", finish);
      response.on("error", finish);
    });
    request.on("error", reject);
    request.end(body);
  });
}

/** Sends a JSON-RPC message. */
export function post(
  url: string,
  message: object | string,
  headers: RawRequest["headers"] = {},
): Promise<RawResponse> {
  const body = typeof message === "string" ? message : JSON.stringify(message);
  return send(url, { headers, body });
}

/** Opens a session and returns the headers that name it. */
export async function openSession(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  capabilities: object = {},
): Promise<Record<string, string>> {
  const params = { ...initialize.params, capabilities };
  const response = await post(url, { ...initialize, params }, headers);
  const id = response.headers["mcp-session-id"];
  if (typeof id !== "string") throw new Error(`no session: ${response.status} ${response.text}`);
  const session = { ...headers, "mcp-session-id": id };
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, session);
  return session;
}

/** Returns the messages of a response, JSON or an event stream. */
export function messagesOf(response: RawResponse): unknown[] {
  if (!response.headers["content-type"]?.startsWith("text/event-stream"))
    return [JSON.parse(response.text)];
  const data = response.text.split("\n").filter((line) => line.startsWith("data: "));
  return data.map((line) => JSON.parse(line.slice(6)));
}

/** A request to open a session, as a client of revision 2025-06-18 sends it. */
export const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

/** Returns a tools/call. */
export function toolCall(name: string, id: number | string = 1, args: object = {}): object {
  return { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } };
}

function headersOf({ headers = {}, body }: RawRequest) {
  const all: Record<string, string | readonly string[] | null> = {
    accept: "application/json, text/event-stream",
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...headers,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Record<
    string,
    string | string[]
  >;
}
