import { beforeAll, expect, it } from "vitest";
import { uriReadings } from "../../runtime/mcp/protocol/resource-uri.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { openSession, post } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";

let gateway: Gateway;
let upstream: RawUpstream;

const secret = "file:///srv/secret";
const templates = [
  { name: "public", uriTemplate: "file:///srv/public/{name}" },
  { name: "any", uriTemplate: "file:///srv/{+path}" },
  { name: "secret", uriTemplate: "file:///srv/public/../{name}" },
];

beforeAll(async () => {
  upstream = await startUpstream(
    mcpResponses({
      "resources/templates/list": JSON.stringify({ resourceTemplates: templates }),
      "resources/read": '{"contents":[]}',
      "prompts/get": '{"messages":[]}',
    }),
  );
  const one = { name: "one", mcp: { host: upstream.url } };
  gateway = await startMcpGateway([
    {
      name: "mcp",
      targets: [one],
      rules: [{ deny: `mcp.resource.name == "${secret}"` }, "has(mcp.resource)"],
    },
    {
      name: "allowed",
      path: "/allowed",
      targets: [one],
      rules: ['mcp.resource.name.startsWith("file:///srv/public/")'],
    },
    {
      name: "merged",
      path: "/merged",
      targets: [one, { ...one, name: "two" }],
      rules: [{ deny: `mcp.resource.name == "${secret}"` }, "has(mcp.resource)"],
    },
    { name: "method", path: "/method", targets: [one], rules: ['mcp.method == "prompts/get"'] },
  ]);
});

const read = (uri: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "resources/read",
  params: { uri },
});

/** Reads a resource and returns whether the server has received the request. */
async function passes(path: string, uri: string): Promise<boolean> {
  const url = gateway.url.replace("/mcp", path);
  const session = await openSession(url);
  upstream.seen.length = 0;
  await post(url, read(uri), session);
  return upstream.seen.some(({ text }) => text.includes("resources/read"));
}

const equal = [
  secret,
  "FILE:///srv/secret",
  "file:/srv/secret",
  "file:srv/secret",
  "file://localhost/srv/secret",
  "file://LOCALHOST/srv/secret",
  "file://127.0.0.1/srv/secret",
  "file:////srv/secret",
  "file:///srv//secret",
  "file:///srv/%73ecret",
  "file:///%73%72%76/secret",
  "file:///srv/%2573ecret",
  "file:///srv/x/../secret",
  "file:///srv/./secret",
  "file:///srv/x/%2e%2E/secret",
  "file:///srv/x%2F..%2Fsecret",
  "file:///../srv/secret",
  "file:\\\\\\srv\\secret",
  "file:///srv\\secret",
  "file:///srv/secret#x",
  "file:///srv/secret?x",
  "file:///srv/secret/",
  " file:///srv/secret",
  "fi\tle:///srv/secret",
];

it.each(equal)("a deny rule applies to %j", async (uri) => {
  expect(await passes("/mcp", uri)).toBe(false);
});

it.each(equal)("a deny rule applies to %j of one of several servers", async (uri) => {
  for (const prefix of ["one+", "two+"])
    expect(await passes("/merged", `${prefix}${uri}`)).toBe(false);
});

it.each(equal)("a deny rule applies to %j without sessions, and to subscriptions", async (uri) => {
  upstream.seen.length = 0;
  await ask(gateway.url, "resources/read", { uri });
  const subscribe = { jsonrpc: "2.0", id: 2, method: "resources/subscribe", params: { uri } };
  await post(gateway.url, subscribe, await openSession(gateway.url));
  expect(upstream.seen.some(({ text }) => /"resources\/(?:read|subscribe)"/.test(text))).toBe(
    false,
  );
});

it("a template is listed by its text, and its URIs are read by their own", async () => {
  const url = gateway.url.replace("/mcp", "/allowed");
  const session = await openSession(url);
  const list = { jsonrpc: "2.0", id: 1, method: "resources/templates/list" };
  const { text } = await post(url, list, session);
  const { resourceTemplates } = JSON.parse(text).result;
  expect(resourceTemplates.map(({ name }: { name: string }) => name)).toEqual(["public"]);
  expect(await passes("/allowed", "file:///srv/public/x")).toBe(true);
  // An expansion may leave the folder of its template.
  expect(await passes("/allowed", "file:///srv/public/../secret")).toBe(false);
});

it.each(["file:///srv/secrets", "file:///srv/%73ecrets", "file://other/srv/secret", "x:secret"])(
  "a deny rule of another resource allows %j",
  async (uri) => {
    expect(await passes("/mcp", uri)).toBe(true);
  },
);

it("an allow rule must hold for every reading of the URI", async () => {
  expect(await passes("/allowed", "file:///srv/public/a")).toBe(true);
  expect(await passes("/allowed", "file:///srv/public/a%20b")).toBe(true);
  for (const uri of ["../secret", "%2e%2e/secret", "x/..%2f..%2fsecret", "..\\secret"])
    expect(await passes("/allowed", `file:///srv/public/${uri}`), uri).toBe(false);
});

it("a rule may name the method as mcp.method", async () => {
  const url = gateway.url.replace("/mcp", "/method");
  const session = await openSession(url);
  upstream.seen.length = 0;
  const prompt = { jsonrpc: "2.0", id: 2, method: "prompts/get", params: { name: "a" } };
  await post(url, prompt, session);
  await post(url, read(secret), session);
  const calls = upstream.seen.filter(({ text }) => /prompts\/get|resources\/read/.test(text));
  expect(calls.map(({ text }) => JSON.parse(text).method)).toEqual(["prompts/get"]);
});

it("URIs of other schemes have one form", () => {
  const forms = (uri: string) => uriReadings(uri).slice(1);
  expect(forms("HTTP://User@Host.:80/a/../b?q#f")).toContain("http://host/b?q");
  expect(forms("repo://A/b")).toContain("repo://a/b");
  expect(forms("repo://a/./b/")).toContain("repo://a/b/");
  expect(forms("urn:x:%61")).toContain("urn:x:a");
  expect(forms("x:\u00e9")).toContain("x:%C3%A9");
  expect(forms("x:%C3%A9")).toContain("x:\u00e9");
  for (const usual of ["file:///a/b.md", "https://a.example/b?c=d", "a:{x}/features.md", "x:y"])
    expect(forms(usual)).toEqual([]);
});
