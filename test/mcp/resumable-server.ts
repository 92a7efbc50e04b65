import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import {
  type EventStore,
  StreamableHTTPServerTransport,
} from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { listen } from "../harness/listen.ts";

/** A call of the tool `talk`, controlled by the test. */
export interface Talk {
  /** Sends the client a message in the call's stream, or stores it until the client resumes. */
  say(text: string): Promise<void>;
  end(): void;
}

/** Starts a real MCP server with sessions and resumable streams. It is stopped at the end of the test. */
export async function startResumable(): Promise<{
  readonly url: string;
  readonly talks: readonly Talk[];
}> {
  const talks: Talk[] = [];
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    const id = String(request.headers["mcp-session-id"] ?? "");
    const transport = transports.get(id) ?? (await open());
    await transport.handleRequest(request, response);
  });
  const open = async () => {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void transports.set(id, transport),
      eventStore: new Events(),
      retryInterval: 10,
    });
    // The SDK's type declares an optional sessionId, which exactOptionalPropertyTypes rejects.
    await talker(talks).connect(transport as Parameters<McpServer["connect"]>[0]);
    return transport;
  };
  return { url: `http://127.0.0.1:${await listen(http)}/mcp`, talks };
}

function talker(talks: Talk[]): McpServer {
  const server = new McpServer({ name: "talker", version: "1" }, { capabilities: { logging: {} } });
  server.registerTool("talk", {}, ({ sendNotification }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const say = (data: string) =>
      sendNotification({ method: "notifications/message", params: { level: "info", data } });
    talks.push({ say, end: resolve });
    return promise.then(() => ({ content: [{ type: "text", text: "done" }] }));
  });
  return server;
}

/** The events of a session's streams, in order. */
class Events implements EventStore {
  readonly #events: { readonly stream: string; readonly message: JSONRPCMessage }[] = [];

  async storeEvent(stream: string, message: JSONRPCMessage): Promise<string> {
    return String(this.#events.push({ stream, message }));
  }

  async replayEventsAfter(
    lastId: string,
    { send }: { readonly send: (id: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const own = this.#events[Number(lastId) - 1]?.stream ?? "";
    for (const [at, { stream, message }] of this.#events.entries())
      if (at >= Number(lastId) && stream === own) await send(String(at + 1), message);
    return own;
  }
}
