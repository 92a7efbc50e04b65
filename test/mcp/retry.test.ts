import { describe, expect, it } from "vitest";
import { expositionOf } from "../harness/exposition.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { openSession, post, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, type Response, startUpstream } from "./raw-upstream.ts";
import { ask } from "./stateless-client.ts";

const works = mcpResponses({
  "tools/list": '{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}',
  "tools/call": '{"content":[]}',
});

/** Fails the first two requests of each method with a status, or by closing the connection. */
function failsTwice(status: number | undefined): Response {
  const failures = new Map<string, number>();
  return (response, request, message) => {
    const method = String(message.method);
    const count = (failures.get(method) ?? 0) + 1;
    failures.set(method, count);
    if (count > 2 || request.method !== "POST") works(response, request, message);
    else if (status === undefined) response.destroy();
    else response.writeHead(status).end();
  };
}

function sent({ seen }: RawUpstream, method: string): number {
  return seen.filter(({ text }) => text.includes(`"${method}"`)).length;
}

async function start(targets: readonly { readonly url: string }[], attempts: number) {
  const mcp = {
    targets: targets.map(({ url }, index) => ({ name: `t${index}`, mcp: { host: url } })),
  };
  const policies = { retry: { attempts, codes: [503] } };
  return startGateway({ listeners: [{ routes: [{ policies, backends: [{ mcp }] }] }] });
}

const lists = { jsonrpc: "2.0", id: 5, method: "tools/list", params: {} };

describe("retry on an MCP route", () => {
  for (const [what, status] of [
    ["answers 503", 503],
    ["disconnects", undefined],
  ] as const) {
    for (const servers of [1, 2]) {
      it(`a server that ${what} is asked again for what changes nothing (${servers} behind the route)`, async () => {
        const failing = await startUpstream(failsTwice(status));
        const others = servers === 1 ? [] : [await startUpstream(works)];
        const { url } = await start([failing, ...others], 2);
        const headers = await openSession(url);
        const listed = await post(url, lists, headers);
        expect(listed.status).toBe(200);
        expect(listed.text).toContain('"tools":[{');
        expect([sent(failing, "initialize"), sent(failing, "tools/list")]).toEqual([3, 3]);
      });
    }
  }

  it("a tool call that may have had effects is sent once", async () => {
    const failing = await startUpstream(failsTwice(503));
    const { url } = await start([failing], 5);
    const headers = await openSession(url);
    const called = await post(url, toolCall("a", 7), headers);
    expect(called.text).not.toContain('"content"');
    expect(sent(failing, "tools/call")).toBe(1);
  });

  it("the client gets the last failure", async () => {
    const failing = await startUpstream(failsTwice(503));
    const { url } = await start([failing], 1);
    const failed = await post(url, { ...lists, method: "initialize", params: {} });
    expect(failed.status).not.toBe(200);
    expect(sent(failing, "initialize")).toBe(2);
  });

  it("any request to a server that is not up yet is retried", async () => {
    const gone = `http://127.0.0.1:${await freePort()}/mcp`;
    const gateway = await start([{ url: gone }], 3);
    const { status } = await post(gateway.url, { ...lists, method: "initialize", params: {} });
    expect(status).toBe(503);
    const { text } = await expositionOf(await gateway.statsPort());
    const failed = /gwc_upstream_connections_total\{[^}]*result="failed"\} (\d+)/.exec(text);
    expect(failed?.[1]).toBe("4");
  });

  it("requests with idempotent methods to an API behind tools are retried", async () => {
    const counts = new Map<string, number>();
    const api = await startUpstream((response, { method, target }) => {
      const count = (counts.get(`${method} ${target}`) ?? 0) + 1;
      counts.set(`${method} ${target}`, count);
      response.writeHead(count === 1 ? 503 : 200, { "content-type": "application/json" }).end("{}");
    });
    const operation = (operationId: string) => ({ operationId, responses: {} });
    const paths = { "/pets": { get: operation("listPets"), post: operation("addPet") } };
    const schema = JSON.stringify({ openapi: "3.0.0", info: { title: "x", version: "1" }, paths });
    const target = { name: "api", openapi: { schema, host: new URL(api.url).origin } };
    const policies = { retry: { attempts: 1, codes: [503] } };
    const backends = [{ mcp: { targets: [target] } }];
    const { url } = await startGateway({ listeners: [{ routes: [{ policies, backends }] }] });
    const headers = await openSession(url);
    await post(url, toolCall("listPets"), headers);
    await post(url, toolCall("addPet"), headers);
    expect([...counts]).toEqual([
      ["GET /pets", 2],
      ["POST /pets", 1],
    ]);
  });

  it("a request of the stateless revision is retried, too", async () => {
    const failing = await startUpstream(failsTwice(503));
    const target = { name: "t", era: "stateless", mcp: { host: failing.url } };
    const policies = { retry: { attempts: 2, codes: [503] } };
    const backends = [{ mcp: { targets: [target] } }];
    const { url } = await startGateway({ listeners: [{ routes: [{ policies, backends }] }] });
    expect((await ask(url, "tools/list")).status).toBe(200);
    expect(sent(failing, "tools/list")).toBe(3);
  });
});
