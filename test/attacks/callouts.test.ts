import { createServer } from "node:http";
import { createConnection } from "node:net";
import { beforeAll, describe, expect, it } from "vitest";
import { type EnvoyServices, startEnvoyServices } from "../harness/envoy-services.ts";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { patient } from "../harness/patient-callout.ts";
import { RawClient } from "../harness/raw-client.ts";
import { send } from "../harness/send.ts";
import { startRoutes } from "../policies/routes.ts";

let services: EnvoyServices;
let gateway: Gateway;

beforeAll(async () => {
  services = await startEnvoyServices();
  const server = { host: new URL(services.url).host, policies: patient };
  // Responds before it has read anything, and never reads what is stuck.
  const upstream = createServer((request, response) => {
    response.writeHead(200, { "content-type": "text/plain" });
    if (request.url?.endsWith("/broken") === true) {
      response.write("half of it", () => response.destroy());
      return;
    }
    response.write(JSON.stringify(request.headers));
    if (request.url?.startsWith("/stuck") === true) request.pause();
    else request.resume().on("end", () => response.end());
  });
  const url = `http://127.0.0.1:${await listen(upstream)}`;
  const extProc = (mode: string) => ({
    ...server,
    processingOptions: { requestBodyMode: mode, responseBodyMode: "none" },
  });
  gateway = await startRoutes(
    {
      auth: { policies: { extAuthz: server } },
      proc: { policies: { extProc: extProc("none") } },
      "held-body": {
        policies: { extProc: { ...server, processingOptions: { responseBodyMode: "buffered" } } },
      },
      "held-twice": {
        policies: {
          extProc: extProc("none"),
          transformations: { response: { body: "response.body" } },
        },
      },
      "held-changed": {
        policies: { transformations: { response: { body: "response.body" } } },
      },
      "stuck-streamed": { policies: { extProc: extProc("streamed") } },
      "stuck-fullDuplexStreamed": { policies: { extProc: extProc("fullDuplexStreamed") } },
    },
    { url },
  );
});

function option(key: string, value: string) {
  return { header: { key, value } };
}

describe("what servers say", () => {
  it.each([
    ["auth", { status: { code: 7 }, denied_response: { status: { code: 204 }, body: "GET /x" } }],
    ["auth", { status: { code: 7 }, denied_response: { status: { code: 304 }, body: "GET /x" } }],
    ["proc", { immediate_response: { status: { code: 204 }, body: btoa("GET /x") } }],
  ])("never puts a body where a client expects none: %s %j", async (path, script) => {
    const client = new RawClient(gateway.port);
    const process = JSON.stringify({ request_headers: script });
    const header =
      path === "auth" ? `x-verdict: ${JSON.stringify(script)}` : `x-process: ${process}`;
    client.send(`GET /${path} HTTP/1.1\r\nhost: a\r\n${header}\r\n\r\n`);
    await client.receives(/^HTTP\/1\.1 \d+ [\s\S]*?\r\n\r\n/);
    client.send(`GET /${path} HTTP/1.1\r\nhost: a\r\n\r\n`);
    await client.receives(/HTTP\/1\.1 200 /);
    expect(client.received).not.toContain("GET /x");
    client.socket.destroy();
  });

  it("sets no header that frames a message, no pseudo header, and none with a line break", async () => {
    const headers = [
      option("content-length", "3"),
      option("transfer-encoding", "chunked"),
      option("connection", "x-user"),
      option(":path", "/other"),
      option("host", "other.test"),
      option("x-split", "a\r\nx-injected: 1"),
      option("x\r\ny", "1"),
      option("x-user", "anna"),
    ];
    const verdict = JSON.stringify({
      ok_response: { headers, response_headers_to_add: headers },
    });
    const spoofed = { "x-verdict": verdict, "x-user": "root", x_user: "root" };
    const response = await send(`${gateway.url}/auth/a`, "POST", spoofed, "hello");
    const seen = JSON.parse(response.body);
    expect(seen).toMatchObject({ "x-user": "anna", "content-length": "5" });
    for (const name of ["x-injected", "x-split", "x_user"]) expect(seen).not.toHaveProperty(name);
    expect(seen.host).toBe(`127.0.0.1:${gateway.port}`);
    expect(response.headers).not.toHaveProperty("x-injected");
    expect(response.headers["content-length"]).not.toBe("3");
  });
});

describe("a backend that aborts", () => {
  it.each([
    ["a processor that has its head says nothing", "proc", { response_headers: null }],
    ["a processor gets its body whole", "held-body", {}],
    ["a processor and an expression wait for it", "held-twice", {}],
    ["an expression reads its body", "held-changed", {}],
  ])("is a 502 while %s", async (_, route, script) => {
    const headers = { "x-process": JSON.stringify(script) };
    const { status, body } = await send(`${gateway.url}/${route}/broken`, "GET", headers);
    expect([status, body]).toEqual([502, expect.not.stringContaining("half")]);
  });
});

describe("floods", () => {
  it.each(["streamed", "fullDuplexStreamed"])(
    "holds no more of a body than a backend takes that does not read it: %s",
    async (mode) => {
      const { port } = gateway;
      const socket = createConnection(port, "127.0.0.1");
      const size = 100 * 1024 * 1024;
      socket.write(`POST /stuck-${mode} HTTP/1.1\r\nhost: a\r\ncontent-length: ${size}\r\n\r\n`);
      let sent = 0;
      let isDone = false;
      const piece = Buffer.alloc(65_536, "a");
      const more = () => {
        while (!isDone && sent < size && socket.write(piece)) sent += piece.length;
      };
      socket.on("drain", more).on("error", () => {});
      more();
      // It stops: nothing more is taken for as long as nobody reads.
      let before = -1;
      await eventually(async () => {
        const isStill = sent === before;
        before = sent;
        await new Promise((resolve) => setTimeout(resolve, 1500));
        return isStill || sent >= size ? true : null;
      }, "the end of the flow");
      isDone = true;
      socket.destroy();
      // Sockets, windows and the processor's own queue hold some.
      expect(sent).toBeLessThan(size / 2);
    },
  );
});
