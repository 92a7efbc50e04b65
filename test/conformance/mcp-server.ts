// An MCP server that offers what the conformance suite asks for, over streamable HTTP on a free port or over stdio.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { askingTools } from "./asking-tools.ts";
import { tools as ownTools, pixel, prompts } from "./mcp-server-primitives.ts";

const tools = { ...ownTools, ...askingTools };

function conformanceServer(): Server {
  const server = new Server(
    { name: "conformance-fixture", version: "1.0.0" },
    {
      capabilities: {
        tools: {},
        prompts: {},
        resources: { subscribe: true },
        logging: {},
        completions: {},
      },
    },
  );
  serveTools(server);
  servePrompts(server);
  serveResources(server);
  server.setRequestHandler(CompleteRequestSchema, () => ({
    completion: { values: ["paris"], total: 1 },
  }));
  return server;
}

function serveTools(server: Server): void {
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: Object.entries(tools).map(([name, { description, properties = {} }]) => ({
      name,
      description,
      inputSchema: { type: "object", properties, required: Object.keys(properties) },
    })),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) => {
    const tool = Object.hasOwn(tools, params.name) ? tools[params.name] : undefined;
    if (tool === undefined)
      throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${params.name}`);
    return tool.run({ args: params.arguments ?? {}, server, extra });
  });
}

function servePrompts(server: Server): void {
  server.setRequestHandler(ListPromptsRequestSchema, () => ({
    prompts: Object.entries(prompts).map(([name, prompt]) => ({
      name,
      description: prompt.description,
      arguments: (prompt.arguments ?? []).map((argument) => ({ name: argument, required: true })),
    })),
  }));
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    const prompt = Object.hasOwn(prompts, params.name) ? prompts[params.name] : undefined;
    if (prompt === undefined) throw new McpError(ErrorCode.InvalidParams, "Unknown prompt");
    return prompt.get(params.arguments ?? {});
  });
}

function serveResources(server: Server): void {
  const listed = [
    { uri: "test://static-text", name: "text", description: "A text.", mimeType: "text/plain" },
    {
      uri: "test://static-binary",
      name: "binary",
      description: "An image.",
      mimeType: "image/png",
    },
    {
      uri: "test://watched-resource",
      name: "watched",
      description: "It changes.",
      mimeType: "text/plain",
    },
  ];
  server.setRequestHandler(ListResourcesRequestSchema, () => ({ resources: listed }));
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template" }],
  }));
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }) => ({
    contents: [contentsOf(uri)],
  }));
  server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
}

function contentsOf(uri: string) {
  if (uri === "test://static-binary") return { uri, mimeType: "image/png", blob: pixel };
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) {
    const data = { id, templateTest: true, data: `Data for ID: ${id}` };
    return { uri, mimeType: "application/json", text: JSON.stringify(data) };
  }
  if (uri !== "test://static-text" && uri !== "test://watched-resource") {
    throw new McpError(ErrorCode.InvalidParams, `Unknown resource: ${uri}`);
  }
  return { uri, mimeType: "text/plain", text: "This is the content of the static text resource." };
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { host = "", origin } = request.headers;
  const isLocal = (name: string) =>
    /^(http:\/\/)?(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/.test(name);
  if (!isLocal(host) || (origin !== undefined && !isLocal(origin))) {
    response.writeHead(403).end();
    return;
  }
  const id = request.headers["mcp-session-id"];
  const known = typeof id === "string" ? sessions.get(id) : undefined;
  if (id !== undefined && known === undefined) {
    response.writeHead(404).end();
    return;
  }
  await (known ?? (await openSession())).handleRequest(request, response);
}

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport);
    },
    onsessionclosed: (id) => {
      sessions.delete(id);
    },
  });
  // Its optional members are typed without undefined; under exactOptionalPropertyTypes the two don't meet.
  await conformanceServer().connect(transport as Parameters<Server["connect"]>[0]);
  return transport;
}

if (process.argv[2] === "stdio") {
  await conformanceServer().connect(new StdioServerTransport());
} else {
  const server = createServer((request, response) => void serve(request, response));
  // A busy machine may take longer between two requests than node keeps a connection by default.
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") console.log(`listening on port ${address?.port}`);
  });
}
