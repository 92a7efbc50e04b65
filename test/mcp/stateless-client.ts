import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { post, type RawRequest, type RawResponse } from "./raw-client.ts";

/** The stateless revision. */
export const revision = "2026-07-28";

const prefix = "io.modelcontextprotocol";

/** The `_meta` of a client of the stateless revision. */
export const envelope = {
  [`${prefix}/protocolVersion`]: revision,
  [`${prefix}/clientCapabilities`]: { elicitation: {}, sampling: {}, roots: {} },
  [`${prefix}/clientInfo`]: { name: "test", version: "1" },
};

/** Returns a message of the stateless revision. */
export function request(method: string, params: object = {}, id: number | string = 1): object {
  return { jsonrpc: "2.0", id, method, params: { _meta: envelope, ...params } };
}

/** Sends a message of the stateless revision with its headers; given ones replace them. */
export function ask(
  url: string,
  method: string,
  params: { readonly name?: string; readonly uri?: string; readonly [field: string]: unknown } = {},
  headers: RawRequest["headers"] = {},
): Promise<RawResponse> {
  const name = params.name ?? params.uri;
  return post(url, request(method, params), {
    "mcp-protocol-version": revision,
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
    ...headers,
  });
}

/** Connects a real client that speaks only the stateless revision. */
export async function connectStateless(
  url: string,
  options: ConstructorParameters<typeof Client>[1] = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { ...options, versionNegotiation: { mode: { pin: revision } } },
  );
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  );
  return client;
}

/** Lets a client answer servers' requests: its user fills in forms with this content, its model says "sampled". */
export function answerServers(client: Client, content: Record<string, string | boolean>): void {
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content }));
  client.setRequestHandler("sampling/createMessage", () => ({
    model: "m",
    role: "assistant",
    content: { type: "text", text: "sampled" },
  }));
}
