import { type RawUpstream, startUpstream } from "./raw-upstream.ts";

/** Starts a server with sessions that sends its user a request in every call and ends the call with the response. */
export function startAskingServer(): Promise<RawUpstream> {
  let sessions = 0;
  const waiting = new Map<string, () => void>();
  return startUpstream((response, { method, headers }, message) => {
    const { id } = message;
    const session = String(headers["mcp-session-id"] ?? ++sessions);
    if (method !== "POST") return void response.writeHead(method === "GET" ? 405 : 200).end();
    if (message.method === "tools/call") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const params = { message: "Which colour?", requestedSchema: {} };
      const question = { jsonrpc: "2.0", id: 1, method: "elicitation/create", params };
      response.write(`data: ${JSON.stringify(question)}\n\n`);
      const done = { jsonrpc: "2.0", id, result: { content: [] } };
      waiting.set(session, () => void response.end(`data: ${JSON.stringify(done)}\n\n`));
      return;
    }
    if (id === undefined || message.method === undefined) {
      response.writeHead(202).end();
      if (id !== undefined) waiting.get(session)?.();
      return;
    }
    const opened = { protocolVersion: "2025-11-25", capabilities: { tools: {} } };
    const error = { code: -32601, message: "Method not found" };
    const body = message.method === "initialize" ? { result: opened } : { error };
    const type = { "content-type": "application/json", "mcp-session-id": session };
    response.writeHead(200, type).end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
  });
}
