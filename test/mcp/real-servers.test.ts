import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { everythingRoutes } from "./everything-routes.ts";
import { startMcpGateway } from "./mcp-gateway.ts";

const run = promisify(execFile);
let gateway: Gateway;

beforeAll(async () => {
  gateway = await startMcpGateway(await everythingRoutes());
});

// The everything server: directly, behind one live connection, and merged with others.
describe.each([
  ["/http", "", ""],
  ["/sse", "", ""],
  ["/stdio", "", ""],
  ["/all", "stdio_", "stdio+"],
  ["/all", "sse_", "sse+"],
  ["/pair", "http_", "http+"],
])("a client of %s with %j", (path, prefix, uriPrefix) => {
  let client: Client;
  let transport: StreamableHTTPClientTransport;
  const logged: unknown[] = [];
  const updated: string[] = [];

  // One session serves all tests: on a route with children, each session is a process.
  beforeAll(async () => {
    const capabilities = { sampling: {}, elicitation: { form: {} }, roots: { listChanged: true } };
    client = new Client({ name: "test", version: "1" }, { capabilities });
    client.setRequestHandler(CreateMessageRequestSchema, () => ({
      model: "m",
      role: "assistant",
      content: { type: "text", text: "sampled" },
    }));
    client.setRequestHandler(ElicitRequestSchema, () => ({
      action: "accept",
      content: { name: "Ada" },
    }));
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: [{ uri: "file:///r", name: "r" }],
    }));
    client.setNotificationHandler(
      LoggingMessageNotificationSchema,
      ({ params }) => void logged.push(params),
    );
    client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => void updated.push(params.uri),
    );
    transport = new StreamableHTTPClientTransport(new URL(gateway.url.replace("/mcp", path)));
    // The SDK's optional members are typed without undefined, which exactOptionalPropertyTypes rejects.
    await client.connect(transport as Transport);
  });
  afterAll(async () => {
    await transport.terminateSession();
    await client.close();
  });

  const call = (name: string, args: Record<string, unknown> = {}) =>
    client.callTool({ name: prefix + name, arguments: args });

  it("calls tools", async () => {
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain(`${prefix}echo`);
    const result = await call("echo", { message: "hello" });
    expect(result.content).toEqual([{ type: "text", text: "Echo: hello" }]);
  });

  it("gets progress while a tool works", async () => {
    const progress: number[] = [];
    const params = {
      name: `${prefix}trigger-long-running-operation`,
      arguments: { duration: 0.3, steps: 3 },
    };
    await client.callTool(params, undefined, {
      onprogress: (step) => progress.push(step.progress),
    });
    expect(progress).toEqual([1, 2, 3]);
  });

  it("responds to requests for the model, the user and roots", async () => {
    // These tools appear once the server knows the client's capabilities.
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    await expect.poll(names).toContain(`${prefix}trigger-elicitation-request`);
    expect(JSON.stringify(await call("trigger-sampling-request", { prompt: "p" }))).toContain(
      "sampled",
    );
    expect(JSON.stringify(await call("trigger-elicitation-request"))).toContain("Ada");
    expect(JSON.stringify(await call("get-roots-list"))).toContain("file:///r");
  });

  it("reads resources as they are listed, linked and embedded", async () => {
    const { resources } = await client.listResources();
    const uri = resources.find((resource) => resource.uri.startsWith(uriPrefix))?.uri ?? "";
    expect((await client.readResource({ uri })).contents[0]).toMatchObject({ uri });
    const { resourceTemplates } = await client.listResourceTemplates();
    const template = resourceTemplates.find((one) => one.uriTemplate.startsWith(uriPrefix));
    const expanded = template?.uriTemplate.replace(/\{[^}]*\}/, "3") ?? "";
    expect((await client.readResource({ uri: expanded })).contents[0]).toMatchObject({
      uri: expanded,
    });
    const linked = (await call("get-resource-links", { count: 1 })).content as { uri?: string }[];
    const link = linked.find((block) => block.uri !== undefined)?.uri ?? "";
    expect(link.startsWith(uriPrefix)).toBe(true);
    expect((await client.readResource({ uri: link })).contents.length).toBe(1);
  });

  it("gets updates of a resource that it subscribes to", async () => {
    const { resources } = await client.listResources();
    const uri = resources.find((resource) => resource.uri.startsWith(uriPrefix))?.uri ?? "";
    await client.subscribeResource({ uri });
    await call("toggle-subscriber-updates");
    await expect.poll(() => updated).toContain(uri);
    await client.unsubscribeResource({ uri });
  });

  it("gets prompts, and completion of their arguments", async () => {
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain(`${prefix}simple-prompt`);
    const prompt = await client.getPrompt({ name: `${prefix}simple-prompt` });
    expect(prompt.messages.length).toBe(1);
    const ref = { type: "ref/prompt" as const, name: `${prefix}completable-prompt` };
    const { completion } = await client.complete({
      ref,
      argument: { name: "department", value: "E" },
    });
    expect(completion.values).toContain("Engineering");
  });

  it("gets log messages of the level that it sets", async () => {
    await client.setLoggingLevel("debug");
    logged.length = 0;
    await call("toggle-simulated-logging");
    await expect.poll(() => logged.length).toBeGreaterThan(0);
  });

  it("can ping the server and cancel calls", async () => {
    await client.ping();
    const controller = new AbortController();
    const params = {
      name: `${prefix}trigger-long-running-operation`,
      arguments: { duration: 20, steps: 2 },
    };
    const pending = client.callTool(params, undefined, { signal: controller.signal });
    setTimeout(() => controller.abort("no more"), 100);
    await expect(pending).rejects.toThrow("no more");
    await client.ping();
  });
});

it.each(["/http", "/sse", "/stdio", "/all"])(
  "the Inspector lists and calls tools of %s",
  async (path) => {
    const inspector = fileURLToPath(
      new URL("../../node_modules/.bin/mcp-inspector", import.meta.url),
    );
    const url = gateway.url.replace("/mcp", path);
    const inspect = async (...args: string[]) => {
      const fixed = ["--cli", "--server-url", url, "--transport", "http", "--format", "json"];
      return (await run(process.execPath, [inspector, ...fixed, ...args])).stdout;
    };
    const prefix = path === "/all" ? "sse_" : "";
    expect(await inspect("--method", "tools/list")).toContain(`"${prefix}get-sum"`);
    const sum = ["--tool-name", `${prefix}get-sum`, "--tool-arg", "a=2", "--tool-arg", "b=40"];
    expect(await inspect("--method", "tools/call", ...sum)).toContain("is 42");
  },
);
