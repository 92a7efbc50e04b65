// An MCP server of revision 2026-07-28 that offers what the conformance suite asks for: `http [reject]` on a free port, or
// `stdio [reject]`. With `reject` it speaks no other revision; without, it serves clients of sessions without a session.
import { createServer } from "node:http";
import {
  createMcpHandler,
  createRequestStateCodec,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { serveFetch } from "../harness/serve-fetch.ts";
import { fixedTools, pixel, prompts } from "./mcp-server-primitives.ts";
import {
  type ChangeTriggers,
  inputPrompt,
  type RoundState,
  statelessTools,
} from "./stateless-tools.ts";

const states = createRequestStateCodec<RoundState>({
  key: crypto.getRandomValues(new Uint8Array(32)),
});

const legacy = process.argv[3] === "reject" ? { legacy: "reject" as const } : {};

function conformanceServer(triggers: ChangeTriggers): Server {
  const server = new Server(
    { name: "stateless-fixture", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      requestState: { verify: states.verify },
    },
  );
  const tools = statelessTools(states, triggers);
  server.setRequestHandler("tools/list", () => ({
    tools: [
      ...Object.entries(fixedTools).map(([name, { description }]) => ({
        name,
        description,
        inputSchema: { type: "object" as const },
      })),
      ...Object.entries(tools).map(([name, { description, properties = {} }]) => ({
        name,
        description,
        inputSchema: { type: "object" as const, properties },
      })),
    ],
  }));
  server.setRequestHandler("tools/call", ({ params: { name, arguments: args = {} } }, context) => {
    const fixed = Object.hasOwn(fixedTools, name) ? fixedTools[name] : undefined;
    if (fixed !== undefined) return fixed.run();
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (tool === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`);
    }
    return tool.run(context, args);
  });
  servePrompts(server);
  serveResources(server);
  server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris"], total: 1 },
  }));
  return server;
}

function servePrompts(server: Server): void {
  server.setRequestHandler("prompts/list", () => ({
    prompts: [
      ...Object.entries(prompts).map(([name, prompt]) => ({
        name,
        description: prompt.description,
        arguments: (prompt.arguments ?? []).map((argument) => ({ name: argument, required: true })),
      })),
      { name: inputPrompt.name, description: "Asks the user before it is there." },
    ],
  }));
  server.setRequestHandler("prompts/get", ({ params }, context) => {
    if (params.name === inputPrompt.name) return inputPrompt.get(context);
    const prompt = Object.hasOwn(prompts, params.name) ? prompts[params.name] : undefined;
    if (prompt === undefined) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "Unknown prompt");
    }
    return prompt.get(params.arguments ?? {});
  });
}

function serveResources(server: Server): void {
  server.setRequestHandler("resources/list", () => ({
    resources: ["static-text", "static-binary", "watched-resource"].map((name) => ({
      uri: `test://${name}`,
      name,
      description: `The resource ${name}.`,
      mimeType: name === "static-binary" ? "image/png" : "text/plain",
    })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template" }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
    if (id !== undefined) {
      const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
      return { contents: [{ uri, mimeType: "application/json", text }] };
    }
    if (uri === "test://static-binary") {
      return { contents: [{ uri, mimeType: "image/png", blob: pixel }] };
    }
    if (!["test://static-text", "test://watched-resource"].includes(uri)) {
      throw new ResourceNotFoundError(uri);
    }
    const text = "This is the content of the static text resource.";
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  });
}

if (process.argv[2] === "stdio") {
  const factory: McpServerFactory = () => {
    const server = conformanceServer({
      toolsChanged: () => void server.sendToolListChanged(),
      promptsChanged: () => void server.sendPromptListChanged(),
    });
    return server;
  };
  serveStdio(factory, legacy);
} else {
  const handler = createMcpHandler(() => conformanceServer(handler.notify), legacy);
  const hosts = localhostAllowedHostnames();
  const serve = async (request: Request) =>
    hostHeaderValidationResponse(request, hosts) ?? handler.fetch(request);
  const server = createServer(serveFetch(serve));
  // A busy machine may take longer between two requests than node keeps a connection by default.
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (typeof address === "object") console.log(`listening on port ${address?.port}`);
  });
}
