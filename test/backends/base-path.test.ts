import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { refusals } from "../harness/refusals.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";

describe("a backend whose URL has a path", () => {
  let gateway: Gateway;
  let copies: Scripted;

  beforeAll(async () => {
    const server = await startScripted((response, _count, request) => response.end(request.url));
    copies = await startScripted((response) => response.end());
    gateway = await startRoutesText(`
- matches: [{path: {pathPrefix: /rewritten}}]
  policies: {urlRewrite: {path: {prefix: /new}}}
  backends: [{host: "http://${server.host}/base/"}]
- matches: [{path: {pathPrefix: /either}}]
  policies: {retry: {attempts: 1}}
  backends: [{host: "http://${server.host}/one"}, {host: "http://${server.host}/two", weight: 0}]
- matches: [{path: {pathPrefix: /copied}}]
  policies: {requestMirror: {backend: {host: "http://${copies.host}/copies"}}}
  backends: [{host: "http://${server.host}/b%61se//deep"}]
- backends: [{host: "http://${server.host}/base"}]
`);
  });

  it.each([
    ["/", "/base/"],
    ["/a/b?c=d", "/base/a/b?c=d"],
    ["/?c=d", "/base/?c=d"],
    ["/a/../../b", "/base/b"],
    ["/rewritten/a", "/base/new/a"],
    ["/either/a", "/one/either/a"],
    ["/copied", "/base/deep/copied"],
  ])("%s goes to %s", async (path, seen) => {
    const response = await fetch(`${gateway.url}${path}`);
    expect(await response.text()).toBe(seen);
  });

  it("a mirror has a base path of its own", async () => {
    await fetch(`${gateway.url}/copied/a`);
    const path = "/copies/copied/a";
    const copied = () => copies.received.find(({ url }) => url === path) ?? null;
    await eventually(copied, "the copy");
  });
});

describe("what a plain backend is not", () => {
  const host = (text: string) =>
    refusals({ listeners: [{ routes: [{ backends: [{ host: text }] }] }] });

  it("a query or a fragment is a mistake", () => {
    expect(host("http://a.test/base?x=1")).toEqual(["query-in-host"]);
    expect(host("http://a.test?")).toEqual(["query-in-host"]);
    expect(host("http://a.test/base#x")).toEqual(["bad-format"]);
  });

  it("a name without port and scheme is a mistake", () => {
    expect(host("a.test")).toEqual(["bad-format"]);
    expect(host("a.test/base")).toEqual(["bad-format"]);
  });

  it("a path that could be read in two ways is a mistake", () => {
    expect(host("http://a.test/a%2fb")).toEqual(["path-never-sent"]);
  });
});

describe("an address that comes from the environment", () => {
  const listeners = [{ routes: [{ backends: [{ host: "http://${UPSTREAM}" }] }] }];

  it("has its path put before those of requests", async () => {
    const server = await startScripted((response, _count, request) => response.end(request.url));
    const env = { UPSTREAM: `${server.host}/base` };
    const gateway = await startGateway({ listeners, env });
    expect(await (await fetch(`${gateway.url}/a?b=c`)).text()).toBe("/base/a?b=c");
  });

  it("with a query is refused when the gateway starts", async () => {
    const env = { UPSTREAM: "a.test/base?x=1" };
    await expect(startGateway({ listeners, env })).rejects.toThrow(/has a query or a fragment/);
  });

  it("with a query in what is known of it is a mistake", () => {
    const host = (text: string) =>
      refusals({ listeners: [{ routes: [{ backends: [{ host: text }] }] }] });
    expect(host("http://a.test/${BASE:-base?x=1}")).toEqual(["query-in-host"]);
    expect(host("http://${HOST}/base?x=${X}")).toEqual(["query-in-host"]);
  });
});
