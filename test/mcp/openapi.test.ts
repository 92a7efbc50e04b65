import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, it, onTestFinished } from "vitest";
import { stringify } from "yaml";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { eventually } from "../harness/eventually.ts";
import { startGateway } from "../harness/gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

const document = readFileSync(new URL("./fixtures/shop.openapi.yaml", import.meta.url), "utf8");

/** A request that the API received: `PUT /v1/items/7 {"name":"a"}`, and its headers. */
interface Seen {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
}

/** Starts an API that records its requests and returns them. */
async function startApi(
  respond: (request: IncomingMessage, response: ServerResponse, line: string) => void = (
    _request,
    response,
    line,
  ) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ line }));
  },
): Promise<{ readonly host: string; readonly seen: readonly Seen[] }> {
  const seen: Seen[] = [];
  const host = await startUpstream(async (request, response) => {
    const body = await text(request);
    const line = `${request.method} ${request.url}${body === "" ? "" : ` ${body}`}`;
    seen.push({ line, headers: request.headers });
    respond(request, response, line);
  });
  return { host, seen };
}

/** Connects a client to a gateway with these targets. */
async function clientOf(
  targets: readonly object[],
  {
    headers = {},
    policies = {},
    ...mcp
  }: { headers?: Record<string, string>; policies?: object; prefixMode?: "always" } = {},
): Promise<Client> {
  const gateway = await startGateway({
    listeners: [{ routes: [{ policies, backends: [{ mcp: { targets, ...mcp } }] }] }],
    files: { "shop.yaml": document },
    env: { KEY: "sesame" },
  });
  const client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
    requestInit: { headers },
  });
  onTestFinished(() => client.close());
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

const shop = (host: string, rest: object = {}) => ({
  name: "shop",
  openapi: { schema: { file: "shop.yaml" }, host, ...rest },
});

/** Calls a tool and returns the text of its result, with `error: ` if it is one. */
async function call(client: Client, name: string, given: object): Promise<string> {
  const { content, isError } = await client.callTool({ name, arguments: { ...given } });
  const [{ text: shown }] = content as [{ text: string }];
  return isError === true ? `error: ${shown}` : shown;
}

it("operations of a document are tools with its schemas", async () => {
  const { host } = await startApi();
  const client = await clientOf([shop(host)]);
  const { tools } = await client.listTools();
  expect(tools.map(({ name, description }) => [name, description])).toEqual([
    ["getItem", "One item."],
    ["putItem", "PUT /items/{itemId}"],
    ["deleteItem", "DELETE /items/{itemId}"],
    ["get_items", "Finds items."],
    ["getPrices", "GET /items/{itemIds}/prices"],
  ]);
  expect(tools.find(({ name }) => name === "putItem")?.inputSchema).toEqual({
    type: "object",
    properties: {
      path: {
        type: "object",
        properties: { itemId: { type: "string" } },
        required: ["itemId"],
        additionalProperties: false,
      },
      header: {
        type: "object",
        properties: { "X-Tenant": { type: "string" } },
        additionalProperties: false,
      },
      body: { $ref: "#/$defs/Item" },
    },
    required: ["path", "body"],
    additionalProperties: false,
    $defs: {
      Item: {
        type: "object",
        required: ["name", "serial"],
        properties: {
          name: { type: ["string", "null"], minLength: 1 },
          serial: { type: "integer", format: "int64" },
          state: { type: "string", enum: ["new", "sold"] },
          price: { type: "number", exclusiveMinimum: 0 },
          parts: { type: "array", maxItems: 2, items: { $ref: "#/$defs/Item" } },
        },
      },
    },
  });
});

it("the tools of a single target have a prefix where prefixMode requires it", async () => {
  const { host } = await startApi();
  const plain = await clientOf([shop(host)]);
  const names = (await plain.listTools()).tools.map(({ name }) => name);
  const client = await clientOf([shop(host)], { prefixMode: "always" });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(names.map((name) => `shop_${name}`));
  expect(await call(client, "shop_getItem", { path: { itemId: "7" } })).toContain("GET /");
  expect(
    await call(client, "getItem", { path: { itemId: "7" } }).catch(({ message }) => message),
  ).toContain("Unknown tool");
});

it("a call is one request with its arguments in the places of the document", async () => {
  const { host, seen } = await startApi();
  const client = await clientOf([shop(host)], { headers: { authorization: "Bearer own" } });
  const result = await client.callTool({
    name: "getItem",
    arguments: { path: { itemId: "a;b ?é" } },
  });
  expect(result.structuredContent).toEqual({ line: "GET /v1/items/a%3Bb%20%3F%C3%A9" });
  await call(client, "get_items", {
    query: { tag: ["x&y", "z"], id: [1, 2], limit: 5, filter: { size: "L" } },
  });
  await call(client, "get_items", {
    query: { page: { at: 2 }, size: { w: 1, h: 2 }, color: ["red", "blue"], near: ["a", "b"] },
  });
  await call(client, "getPrices", { path: { itemIds: [1, 2] }, header: { "X-Days": ["1", "2"] } });
  await call(client, "putItem", {
    path: { itemId: "7" },
    header: { "X-Tenant": "blue" },
    body: { name: null, serial: 1, price: 0.5, parts: [{ name: "p", serial: 2 }] },
  });
  expect(seen.map(({ line }) => line)).toEqual([
    "GET /v1/items/a%3Bb%20%3F%C3%A9",
    "GET /v1/items?tag=x%26y&tag=z&id=1%2C2&limit=5&filter%5Bsize%5D=L",
    "GET /v1/items?at=2&size=w%2C1%2Ch%2C2&color=red%7Cblue&near=a%20b",
    "GET /v1/items/1,2/prices",
    'PUT /v1/items/7 {"name":null,"serial":1,"price":0.5,"parts":[{"name":"p","serial":2}]}',
  ]);
  expect(seen[3]?.headers).toMatchObject({ "x-days": "1,2" });
  expect(seen[4]?.headers).toMatchObject({ "x-tenant": "blue", authorization: "Bearer own" });
  expect(seen[4]?.headers).not.toHaveProperty("mcp-session-id");
});

const mistakes: readonly (readonly [tool: string, given: object, expected: string])[] = [
  ["putItem", { path: { itemId: "7" } }, "body is missing"],
  ["putItem", { path: { itemId: "7" }, body: { name: "a" } }, "body.serial is missing"],
  [
    "putItem",
    { path: { itemId: "7" }, body: { name: "", serial: 1 } },
    "body.name has fewer than 1",
  ],
  [
    "putItem",
    { path: { itemId: "7" }, body: { name: "a", serial: "1" } },
    "body.serial is not of type",
  ],
  [
    "putItem",
    { path: { itemId: "7" }, body: { name: "a", serial: 1.5 } },
    "body.serial is not of type",
  ],
  [
    "putItem",
    { path: { itemId: "7" }, body: { name: "a", serial: 1, price: 0 } },
    "body.price is not more",
  ],
  [
    "putItem",
    { path: { itemId: "7" }, body: { name: "a", serial: 1, state: "x" } },
    "body.state must be one of",
  ],
  [
    "putItem",
    { path: { itemId: "7" }, body: { name: "a", serial: 1, parts: [{ name: "b" }] } },
    "body.parts[0].serial is missing",
  ],
  ["get_items", { query: { limit: 51 } }, "query.limit is more than 50"],
  ["get_items", { query: { other: 1 } }, "query.other is an unknown field"],
  ["getItem", { path: { itemId: ".." } }, 'a value of "path"'],
  ["getItem", { path: { itemId: "" } }, 'a value of "path"'],
  // Some servers decode this as a character, others as the separator of segments.
  ...["7/parts", "../admin", "..\\admin", "..;a", "%2e%2e", "7%2fparts", "7\0", "\ud800"].map(
    (itemId) => ["getItem", { path: { itemId } }, 'a value of "path"'] as const,
  ),
  ["get_items", { query: { tag: ["\ud800"] } }, 'a value of "query"'],
  [
    "getItem",
    { path: { itemId: "1" }, header: { "X-Tenant": "a\r\nb: c" } },
    'a value of "header"',
  ],
  ["getItem", { path: { itemId: "1" }, cookie: {} }, "cookie is an unknown field"],
  // Two references with the same end.
  ["getPrices", { path: { itemIds: ["1"] } }, "path.itemIds[0] is not of type integer"],
  ["getPrices", { path: { itemIds: [1] }, header: { "X-Days": [1] } }, "header.X-Days[0] is not"],
  ["getPrices", { path: { itemIds: [] } }, 'a value of "path"'],
];

it("arguments that violate the schema reach no API and are reported", async () => {
  const { host, seen } = await startApi();
  const client = await clientOf([shop(host)]);
  for (const [name, given, expected] of mistakes)
    expect(await call(client, name, given)).toContain(`error: ${expected}`);
  expect(seen).toEqual([]);
});

it("responses of an API are forwarded: errors as errors of the tool, text unchanged", async () => {
  const { host } = await startApi((request, response) => {
    if (request.method === "DELETE") response.writeHead(404).end("no such item");
    else if (request.url?.endsWith("big") === true) response.end("x".repeat(65 * 1024 * 1024));
    else if (request.url?.endsWith("gone") === true) request.socket.destroy();
    else response.end("plain");
  });
  const client = await clientOf([shop(host)]);
  const get = (itemId: string) => call(client, "getItem", { path: { itemId } });
  expect(await call(client, "deleteItem", { path: { itemId: "7" } })).toBe(
    "error: 404: no such item",
  );
  expect(await get("7")).toBe("plain");
  expect(await get("big")).toMatch(/^error: the response is over the size limit/);
  expect(await get("gone")).toMatch(/^error: the request to the API failed/);
  expect(await get("7")).toBe("plain");
});

it("rules, gateway credentials and other targets apply as for any server", async () => {
  const { host, seen } = await startApi();
  const target = { ...shop(host, { path: "/beta" }), policies: { backendAuth: { key: "${KEY}" } } };
  const other = { name: "other", openapi: { schema: document, host } };
  const client = await clientOf([target, other], {
    policies: {
      mcpAuthorization: { rules: ['mcp.tool.name.startsWith("get")'] },
      requestHeaderModifier: { set: { "x-tenant": "fixed" } },
    },
  });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...["shop_getItem", "shop_get_items", "shop_getPrices"],
    ...["other_getItem", "other_get_items", "other_getPrices"],
  ]);
  await call(client, "shop_getItem", { path: { itemId: "1" }, header: { "X-Tenant": "mine" } });
  expect(seen[0]).toMatchObject({
    line: "GET /beta/items/1",
    headers: { authorization: "Bearer sesame", "x-tenant": "fixed" },
  });
  await expect(client.callTool({ name: "shop_deleteItem", arguments: {} })).rejects.toThrow(
    /Unknown tool/,
  );
});

it("a call that its client cancels is aborted at the API", async () => {
  let closed = 0;
  const { host, seen } = await startApi((_request, response) => {
    response.on("close", () => {
      closed += 1;
    });
  });
  const client = await clientOf([shop(host)]);
  const controller = new AbortController();
  const pending = client
    .callTool({ name: "getItem", arguments: { path: { itemId: "1" } } }, undefined, {
      signal: controller.signal,
    })
    .catch(() => "taken back");
  await eventually(() => seen.length === 1 || null, "the API is asked");
  controller.abort();
  expect(await pending).toBe("taken back");
  await eventually(() => closed === 1 || null, "the request ends");
});

it.each([
  ["nothing", undefined, /can't be read/],
  ["a text", "hello", /is not an OpenAPI document/],
  ["neither JSON nor YAML", "{", /neither JSON nor YAML/],
  ["Swagger 2.0", '{"swagger": "2.0", "paths": {}}', /is not an OpenAPI document/],
  ["no operations", "openapi: 3.1.0\npaths: {}", /has no operation/],
])("a document with %s is refused", (_what, file, expected) => {
  const targets = [shop("127.0.0.1:9000")];
  const config = {
    binds: [{ port: 3000, listeners: [{ routes: [{ backends: [{ mcp: { targets } }] }] }] }],
  };
  const files = {
    "gateway.yaml": stringify(config),
    ...(file !== undefined && { "shop.yaml": file }),
  };
  const { findings } = checkInput(["gateway.yaml"], memoryHost(files), false);
  expect(findings.map(({ code }) => code)).toEqual(["bad-openapi"]);
  expect(findings[0]?.message).toMatch(expected);
});

it("operations that cannot be tools are reported, and the others work", () => {
  const targets = [shop("127.0.0.1:9000")];
  const config = {
    binds: [{ port: 3000, listeners: [{ routes: [{ backends: [{ mcp: { targets } }] }] }] }],
  };
  const host = memoryHost({ "gateway.yaml": stringify(config), "shop.yaml": document });
  const { program, findings } = checkInput(["gateway.yaml"], host, false);
  expect(program).toBeDefined();
  expect(findings.map(({ message }) => message)).toEqual([
    "POST /upload is not offered as a tool: its body has no media type",
    'GET /basket is not offered as a tool: its parameter "session" has an unsupported style',
    'GET /labels/{label} is not offered as a tool: its parameter "label" has an unsupported style',
    'GET /lost is not offered as a tool: its reference "other.yaml#/Tenant" is not in the document',
    'PUT /lost is not offered as a tool: its reference "#/components/schemas/Lost" is not in the document',
    "POST /lost is not offered as a tool: the reference of its body is broken",
    "/elsewhere is not offered as a tool: its reference is broken",
    "GET relative is not offered as a tool: its path is invalid",
  ]);
  expect(messageOf("operation-left-out").severity).toBe("warning");
});
