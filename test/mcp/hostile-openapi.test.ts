import { expect, it } from "vitest";
import { openApiTools } from "../../compiler/backends/mcp/openapi-tools.ts";
import { schemaProblem, type ValueSchema } from "../../runtime/json/json-schema.ts";

/** Returns the messages of the compiler about a document, and the tools that it creates from it. */
function toolsOf(paths: object, components: object = {}) {
  const text = JSON.stringify({ openapi: "3.1.0", paths, components });
  const found = openApiTools(text);
  return found.kind === "problem"
    ? { problem: found.problem, tools: [], skipped: [] }
    : {
        tools: found.tools,
        skipped: found.skipped.map(({ operation, why }) => `${operation}: ${why}`),
      };
}

const own = { get: {} };

it("no path of a document leads out of the API or to another request", () => {
  const hostile = [
    ...["/../admin", "/a/%2e%2E/b", "/a/..;x/b", "/a/.", "//other.test/a", "/a%2fb", "/a\\..\\b"],
    ...["/a b", "/a HTTP/1.1\r\nx: y", "/é", "/a\0", "/{a/b}", "/a?b", "/a#b"],
  ];
  const { tools, skipped } = toolsOf({
    ...Object.fromEntries(hostile.map((path) => [path, own])),
    "/a/{b}.{c}/v1.2/..c/": own,
  });
  expect(skipped).toEqual(hostile.map((path) => `GET ${path}: its path is invalid`));
  expect(tools.map(({ path }) => path)).toEqual(["/a/{b}.{c}/v1.2/..c/"]);
});

it("no header of a document overrides the gateway's or breaks a request", () => {
  const parameters = (names: readonly string[]) => ({
    get: { parameters: names.map((name) => ({ in: "header", name, schema: {} })) },
  });
  const names = [
    ...["Host", "AUTHORIZATION", "Cookie", "Connection", "Expect", "Content-Length", "Forwarded"],
    ...["X-Forwarded-For", "X-Forwarded-Host", "Content-Encoding", "Proxy-Connection"],
  ];
  const { tools, skipped } = toolsOf({
    "/a": parameters([...names, "X-Own"]),
    "/b": parameters(["x\r\nhost: other.test"]),
  });
  expect(tools.map(({ inputSchema }) => inputSchema.properties)).toMatchObject([
    { header: { properties: { "X-Own": {} }, additionalProperties: false } },
  ]);
  expect(JSON.stringify(tools)).not.toMatch(/forwarded|cookie|expect/i);
  expect(skipped).toEqual([expect.stringMatching(/is not a valid header name$/)]);
});

it("schemas with long or endless chains of references cost no more than others", () => {
  const length = 3000;
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const body = (name: string) => ({
    post: { requestBody: { content: { "application/json": { schema: reference(name) } } } },
  });
  const chain = Array.from({ length }, (_, index) => [
    `S${index}`,
    index + 1 < length ? { properties: { a: reference(`S${index + 1}`) } } : { type: "string" },
  ]);
  const twice = { allOf: [{ not: reference("Twice") }, { not: reference("Twice") }] };
  const schemas = { ...Object.fromEntries(chain), Twice: twice };
  const { tools } = toolsOf({ "/chain": body("S0"), "/twice": body("Twice") }, { schemas });
  const [first, second] = tools.map(({ inputSchema }) => inputSchema as ValueSchema);
  expect(Object.keys(first?.$defs ?? {})).toHaveLength(length);
  expect(schemaProblem(first ?? {}, { body: { a: { a: 1 } } }, "")).toBeUndefined();
  expect(schemaProblem(second ?? {}, { body: 1 }, "")).toMatch(/too long|too deeply/);
  const nested = `${'{"items":'.repeat(400)}{}${"}".repeat(400)}`;
  const deep = toolsOf(
    { "/deep": body("Deep"), "/a": own },
    { schemas: { Deep: JSON.parse(nested) } },
  );
  expect(deep.skipped).toEqual(["POST /deep: its schemas are nested too deeply"]);
  const many = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`/${index}`, body("S0")]),
  );
  expect(toolsOf(many, { schemas }).problem).toBe("makes more than 16 MiB of tools");
});
