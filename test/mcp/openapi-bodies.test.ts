import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, expect, it } from "vitest";
import { openApiTools } from "../../compiler/backends/mcp/openapi-tools.ts";
import { startGateway } from "../harness/gateway.ts";
import { startUpstream } from "../harness/upstream.ts";

const document = readFileSync(new URL("./fixtures/forms.openapi.yaml", import.meta.url), "utf8");

/** The last request that the API received. */
let last: {
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer<ArrayBuffer>;
};
let respond: (response: ServerResponse) => void = (response) => response.end("done");
let client: Client;

beforeAll(async () => {
  const host = await startUpstream(async (request, response) => {
    const body = await buffer(request);
    const { headers } = request;
    last = { line: `${request.method} ${request.url}`, headers, body: Buffer.from(body) };
    respond(response);
  });
  const targets = [{ name: "forms", openapi: { schema: { file: "forms.yaml" }, host } }];
  const gateway = await startGateway({
    listeners: [{ routes: [{ backends: [{ mcp: { targets } }] }] }],
    files: { "forms.yaml": document },
  });
  client = new Client({ name: "test", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`));
  await client.connect(transport as Parameters<Client["connect"]>[0]);
});

/** The result of a call of a tool. */
async function call(name: string, given: Record<string, unknown>) {
  const { content, isError } = await client.callTool({ name, arguments: given });
  const [first] = content as Record<string, unknown>[];
  return { ...first, isError };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

/** The fields of the last form, read as a server does; files with their name and media type. */
async function lastForm(): Promise<readonly unknown[]> {
  const headers = { "content-type": String(last.headers["content-type"]) };
  const form = await new Response(last.body, { headers }).formData();
  return Promise.all(
    [...form].map(async ([name, value]) =>
      typeof value === "string"
        ? [name, value]
        : [name, value.name, value.type, Buffer.from(await value.arrayBuffer()).toString("latin1")],
    ),
  );
}

it("a form is sent with the document's styles, and null is no value", async () => {
  const body = {
    ...{ user: "a&b=c é", note: null, roles: ["x", "y"] },
    ...{ card: { number: "1" }, meta: { k: "v" }, tags: ["t", "u"] },
  };
  expect(await call("login", { body })).toMatchObject({ text: "done", isError: false });
  expect(last.headers["content-type"]).toBe("application/x-www-form-urlencoded");
  expect(await lastForm()).toEqual([
    ...[
      ["user", "a&b=c é"],
      ["roles", "x"],
      ["roles", "y"],
      ["card[number]", "1"],
    ],
    ...[
      ["meta", '{"k":"v"}'],
      ["tags", "t,u"],
    ],
  ]);
  expect(await call("login", { body: {} })).toMatchObject({ isError: true });
});

it("files are parts of a multipart body, in base64 as arguments", async () => {
  const { tools } = await client.listTools();
  const { properties = {} } = tools.find(({ name }) => name === "upload")?.inputSchema ?? {};
  const [shown] = Object.values(properties) as { properties: Record<string, unknown> }[];
  const file = { type: "string", contentEncoding: "base64" };
  expect(shown?.properties).toMatchObject({
    file: { ...file, description: "The document. (base64)" },
    pages: { type: "array", items: file },
    title: { type: ["string", "null"] },
  });
  const bytes = "\0\r\n--\xff";
  const given = {
    ...{ file: Buffer.from(bytes, "latin1").toString("base64"), picture: base64("png") },
    ...{ pages: [base64("1"), base64("2")], title: null, labels: ["a", "b"], about: { year: 1 } },
    'odd"\r\nx: y': "z",
  };
  expect(await call("upload", { body: given })).toMatchObject({ isError: false });
  expect(await lastForm()).toEqual([
    ["file", "file", "application/octet-stream", bytes],
    ["picture", "picture", "image/png", "png"],
    ["pages", "pages", "application/octet-stream", "1"],
    ["pages", "pages", "application/octet-stream", "2"],
    ...[
      ["labels", "a"],
      ["labels", "b"],
      ["about", '{"year":1}'],
    ],
    ['odd"\r\nx: y', "z"],
  ]);
  expect(await call("upload", { body: { file: "not base64!" } })).toMatchObject({
    text: '"file" of "body" is not base64',
  });
});

it("bytes and texts are sent as they are", async () => {
  await call("putRaw", { path: { key: "k" }, body: base64("\0raw") });
  expect([last.line, last.headers["content-type"], last.body.toString()]).toEqual([
    ...["PUT /raw/k", "application/octet-stream", "\0raw"],
  ]);
  await call("postText", { body: "# Title é" });
  expect([last.headers["content-type"], last.body.toString()]).toEqual([
    ...["text/markdown", "# Title é"],
  ]);
});

it("parameters that are JSON, and cookies, are sent in their places", async () => {
  const found = await call("search", {
    query: { filter: { a: ["ü", 1] }, limit: null },
    header: { "X-Trace": { b: "é" } },
    cookie: { session: "a; b=c", ids: [1, 2] },
  });
  expect(found).toMatchObject({ isError: false });
  const url = new URL(`http://api${last.line.replace("GET ", "")}`);
  expect([...url.searchParams]).toEqual([["filter", '{"a":["ü",1]}']]);
  expect(last.headers).toMatchObject({
    "x-trace": '{"b":"\\u00e9"}',
    cookie: "session=a%3B%20b%3Dc; ids=1%2C2",
  });
  expect(await call("search", {})).toMatchObject({ isError: true, text: "cookie is missing" });
});

it("a redirect is an error that names the location, and sound is sound", async () => {
  respond = (response) => response.writeHead(302, { location: "/elsewhere" }).end();
  expect(await call("moved", {})).toEqual({
    ...{ type: "text", text: "302: redirect to /elsewhere, which was not followed", isError: true },
  });
  respond = (response) => response.writeHead(200, { "content-type": "audio/wav" }).end("RIFF");
  expect(await call("sound", {})).toMatchObject({
    ...{ type: "audio", mimeType: "audio/wav", data: base64("RIFF") },
  });
});

it("a body that has no media type leaves its operation out", () => {
  const found = openApiTools(document);
  expect(found.kind === "tools" && found.skipped).toEqual([
    { operation: "POST /empty", why: "its body has no media type" },
    { operation: "POST /strange", why: "no media type of its body is supported: no type" },
  ]);
});
