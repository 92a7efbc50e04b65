import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { roundTripsUntil } from "../harness/round-trips.ts";
import { startHandwritten } from "./mcp-gateway.ts";
import { initialize, messagesOf, openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";

let upstream: RawUpstream;
let gateway: Gateway;
const plain = mcpResponses({
  "tools/list": '{"tools":[]}',
  "tools/call": '{"content":[]}',
  ping: "{}",
});

beforeAll(async () => {
  upstream = await startUpstream(plain);
  const targets = [{ name: "one", mcp: { host: upstream.url } }];
  gateway = await startHandwritten({
    routes: [
      { name: "mcp", targets },
      { name: "open", path: "/open", targets, credentials: "forward" },
      {
        name: "down",
        path: "/down",
        targets: [{ name: "one", mcp: { host: "http://127.0.0.1:1/mcp" } }],
      },
    ],
  });
});
beforeEach(() => {
  upstream.response = plain;
  upstream.seen.length = 0;
});

describe("a request for one HTTP target", () => {
  it("arrives byte for byte: ids beyond 2^53, unknown fields, escapes, white space", async () => {
    const body =
      '{ "jsonrpc":"2.0",\n"id":123456789012345678901234567890, "method":"tools/call", "x-later":[1.0,1e400,-0],' +
      '"params":{"name":"\\u0065cho","arguments":{"n":9007199254740993,"s":"\\ud83d\\ude00 ü"},"_meta":{"a":null}}}';
    const response = await post(gateway.url, body);
    expect(upstream.seen[0]?.text).toBe(body);
    expect(response.text).toContain('"id":123456789012345678901234567890');
  });

  it("carries the client's own headers without credentials, cookies, origin and foreign session", async () => {
    const headers = {
      authorization: "Bearer secret",
      cookie: "a=b",
      origin: "http://127.0.0.1:1234",
      "x-tenant": "t1",
      "mcp-protocol-version": "2025-06-18",
      connection: "x-hop",
      "x-hop": "1",
    };
    await post(gateway.url, toolCall("echo"), headers);
    const seen = upstream.seen[0]?.headers ?? {};
    expect(seen).toMatchObject({
      "x-tenant": "t1",
      "mcp-protocol-version": "2025-06-18",
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      host: new URL(upstream.url).host,
    });
    for (const name of ["authorization", "cookie", "origin", "x-hop", "mcp-session-id"]) {
      expect(seen[name]).toBeUndefined();
    }
  });

  it("carries credentials on a route that forwards them", async () => {
    await post(gateway.url.replace("/mcp", "/open"), toolCall("echo"), {
      authorization: "Bearer t",
    });
    expect(upstream.seen[0]?.headers.authorization).toBe("Bearer t");
  });

  it("for OAuth metadata goes to the same path of the target", async () => {
    upstream.response = (response, request) => response.end(`{"path":"${request.target}"}`);
    const url = gateway.url.replace("/mcp", "/.well-known/oauth-protected-resource/mcp?x=1");
    const response = await send(url, { method: "GET" });
    expect(response.text).toBe('{"path":"/.well-known/oauth-protected-resource/mcp?x=1"}');
  });
});

describe("a response of one HTTP target", () => {
  it("arrives byte for byte, as JSON or as a stream, with its status and headers", async () => {
    const body =
      '{"jsonrpc":"2.0", "id":1,"result":{"big":123456789012345678901, "\\u0061":1.50}}\n';
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "application/json", "x-server": "yes" }).end(body);
    };
    const json = await post(gateway.url, toolCall("echo"));
    expect(json.text).toBe(body);
    expect(json.headers["x-server"]).toBe("yes");
    const stream = ": hi\r\n\r\nretry: 5\nid: 7\ndata: {}\n\n\ndata: a\rdata: b\r\r";
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).end(stream);
    };
    expect((await post(gateway.url, toolCall("echo"))).text).toBe(stream);
  });

  it("that is an error passes unchanged", async () => {
    upstream.response = (response) => {
      response.writeHead(401, { "www-authenticate": "Bearer resource_metadata=x" }).end("no");
    };
    const response = await post(gateway.url, toolCall("echo"));
    expect(response.status).toBe(401);
    expect(response.headers["www-authenticate"]).toBe("Bearer resource_metadata=x");
    expect(response.text).toBe("no");
  });

  it("contains no CORS headers of the target", async () => {
    upstream.response = (response) => {
      response.writeHead(200, {
        "content-type": "application/json",
        "access-control-allow-origin": "*",
      });
      response.end("{}");
    };
    const response = await post(gateway.url, toolCall("echo"));
    expect(response.headers["access-control-allow-origin"]).toBeUndefined();
  });

  it("reaches the client event by event", async () => {
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      void isRead.then(() => response.end("data: 2\n\n"));
    };
    const response = await fetch(gateway.url, {
      method: "POST",
      headers: { accept: "*/*", "content-type": "application/json" },
      body: JSON.stringify(toolCall("echo")),
    });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toBe("data: 1\n\n");
    read();
    expect((await reader?.read())?.value).toBe("data: 2\n\n");
  });

  it("is aborted at once when the client disconnects", async () => {
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
    };
    const body = JSON.stringify(toolCall("echo"));
    for (let number = 0; number < 5; number++) {
      await send(gateway.url, { body, leaveAfter: 5 });
      const others = await roundTripsUntil(
        () => upstream.seen[number]?.isLeft === true,
        () => fetch(gateway.url, { method: "PUT" }),
      );
      expect(others).toBeLessThan(20);
    }
  });

  it("that is aborted in a stream ends with an error for the request", async () => {
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\ndata: {"half');
      setTimeout(() => response.destroy(), 50);
    };
    const response = await post(gateway.url, toolCall("echo", "r1"));
    expect(response.status).toBe(200);
    const last = response.text.trim().split("\n").at(-1)?.slice(6) ?? "";
    expect(JSON.parse(last)).toMatchObject({ id: "r1", error: { code: -32603 } });
  });

  it("that is aborted in a numbered stream aborts the client's, which resumes it", async () => {
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("id: 1\ndata: \n\n");
      setTimeout(() => response.destroy(), 50);
    };
    const response = await post(gateway.url, toolCall("echo"));
    expect(response.text).toBe("id: 1\ndata: \n\n");
    upstream.response = plain;
    await send(gateway.url, { method: "GET", headers: { "last-event-id": "1" } });
    expect(upstream.seen.at(-1)?.headers["last-event-id"]).toBe("1");
  });

  it("that never arrives because the server is down is a 503 with the request's id", async () => {
    const response = await post(gateway.url.replace("/mcp", "/down"), toolCall("echo", 77));
    expect(response.status).toBe(503);
    expect(JSON.parse(response.text)).toMatchObject({ id: 77, error: { code: -32603 } });
    expect(response.text).not.toContain("ECONNREFUSED");
  });

  it("that is not HTTP is a 502", async () => {
    upstream.response = (response) => response.socket?.end("rubbish\r\n\r\n");
    expect((await post(gateway.url, toolCall("echo"))).status).toBe(502);
  });
});

describe("a session of one HTTP target", () => {
  it("has an id of the gateway instead of the target's", async () => {
    const session = await openSession(gateway.url);
    expect(session["mcp-session-id"]).not.toContain("upstream");
    await post(gateway.url, toolCall("echo"), session);
    expect(upstream.seen.at(-1)?.headers["mcp-session-id"]).toBe("upstream-1");
  });

  it("is not invented if the target has none", async () => {
    upstream.response = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end('{"jsonrpc":"2.0","id":0,"result":{}}');
    };
    const response = await post(gateway.url, initialize);
    expect(response.headers["mcp-session-id"]).toBeUndefined();
    expect(messagesOf(response)).toEqual([{ jsonrpc: "2.0", id: 0, result: {} }]);
  });
});
