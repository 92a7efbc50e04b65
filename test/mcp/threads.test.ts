import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { request as httpsRequest } from "node:https";
import path from "node:path";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../harness/bundle.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { expositionOf } from "../harness/exposition.ts";
import { fragileThreads } from "../harness/fragile-threads.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { RawClient } from "../harness/raw-client.ts";
import { settled } from "../harness/settled.ts";
import { everythingRoutes } from "./everything-routes.ts";
import { startMcpGateway } from "./mcp-gateway.ts";
import { initialize, openSession, post, send, toolCall } from "./raw-client.ts";
import { mcpResponses, type RawUpstream, startUpstream } from "./raw-upstream.ts";
import { connectSession } from "./session-client.ts";
import { as } from "./subjects.ts";
import {
  child,
  many,
  requestText,
  type Session,
  startThreads,
  statuses,
  threads,
} from "./thread-gateway.ts";

/** Uses a separate connection, as every request of raw-client.ts does. */
const apart: typeof fetch = (url, init) => {
  const headers = new Headers(init?.headers);
  headers.set("connection", "close");
  return fetch(url, { ...init, headers });
};

describe("a session over many connections, of a client of", () => {
  let gateway: Gateway;

  beforeAll(async () => {
    gateway = await startThreads(await everythingRoutes());
  });

  it.each([
    ["/http", ""],
    ["/sse", ""],
    ["/stdio", ""],
    ["/all", "stdio_"],
    ["/all", "http_"],
    ["/all", "sse_"],
  ])(
    "%s finds the tools %j, answers requests, gets updates, and ends everywhere",
    async (path, prefix) => {
      const url = gateway.url.replace("/mcp", path);
      const client = await connectSession(url, undefined, apart);
      const logged: unknown[] = [];
      client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
        logged.push(params);
      });
      const call = async (name: string, args: Readonly<Record<string, unknown>> = {}) =>
        JSON.stringify(await client.callTool({ name: prefix + name, arguments: args }));
      const echoed = many.map((index) => call("echo", { message: `message ${index}` }));
      for (const [index, text] of (await Promise.all(echoed)).entries())
        expect(text).toContain(`Echo: message ${index}"`);
      const large = "x".repeat(1_000_000);
      expect(await call("echo", { message: large })).toContain(large);
      const progress: number[] = [];
      const long = { duration: 0.3, steps: 3 };
      await client.callTool(
        { name: `${prefix}trigger-long-running-operation`, arguments: long },
        undefined,
        { onprogress: (step) => progress.push(step.progress) },
      );
      expect(progress).toEqual([1, 2, 3]);
      expect(await call("trigger-sampling-request", { prompt: "hi" })).toContain("sampled");
      expect(await call("trigger-elicitation-request")).toContain("accept");
      // The GET stream.
      await call("toggle-simulated-logging");
      await expect.poll(() => logged.length).toBeGreaterThan(0);
      const { transport } = client;
      if (!(transport instanceof StreamableHTTPClientTransport))
        throw new Error("another transport");
      const session = { "mcp-session-id": transport.sessionId ?? "" };
      await transport.terminateSession();
      await client.close();
      expect(await statuses(url, session)).toEqual(new Set([404]));
    },
  );
});

describe("a request that another thread serves", () => {
  let gateway: Gateway;
  let upstream: RawUpstream;
  const at = (path: string) => gateway.url.replace("/mcp", path);

  beforeAll(async () => {
    upstream = await startUpstream(mcpResponses({ "tools/call": '{"content":[]}' }));
    gateway = await startThreads([
      { name: "child", path: "/child", targets: [child], hasSubjects: true },
      { name: "http", path: "/http", targets: [{ name: "http", mcp: { host: upstream.url } }] },
    ]);
  });

  it("is logged and counted once, with its client's address", async () => {
    const session = await openSession(at("/child"));
    const served = /^gwc_requests_total\{.*route="child",method="POST",status="200".* (\d+)$/m;
    const count = async () =>
      Number(served.exec((await expositionOf(await gateway.statsPort())).text)?.[1]);
    const before = await count();
    const from = gateway.output.length;
    const ports = await Promise.all(
      many.map(async (id) => {
        const client = new RawClient(gateway.port);
        const body = JSON.stringify(toolCall("args", id));
        client.send(requestText("/child", session, body));
        await client.receives(/"result"/);
        const { localPort } = client.socket;
        client.socket.destroy();
        return localPort;
      }),
    );
    for (const port of ports) {
      const address = `src.addr=127.0.0.1:${port} `;
      await gateway.seen(new RegExp(address), from);
      expect(gateway.output.slice(from).split(address)).toHaveLength(2);
    }
    await expect.poll(async () => (await count()) - before).toBe(many.length);
  });

  it("may arrive over HTTP/2", async () => {
    const session = await openSession(at("/child"));
    const call = (id: number) =>
      new Promise<string>((resolve, reject) => {
        const client = connect(at(""));
        client.on("error", reject);
        const stream = client.request({
          ":method": "POST",
          ":path": "/child",
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          ...session,
        });
        let text = "";
        stream.setEncoding("utf8");
        stream.on("data", (chunk: string) => {
          text += chunk;
        });
        stream.on("end", () => {
          client.close();
          resolve(text);
        });
        stream.end(JSON.stringify(toolCall("echo-id", id)));
      });
    for (const text of await Promise.all(many.map(call))) expect(text).toContain('"result"');
  });

  it("ends when its client disconnects", async () => {
    upstream.response = (response, request, message) => {
      if (message.method !== "tools/call") return mcpResponses({})(response, request, message);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(": there\n\n");
    };
    const session = await openSession(at("/http"));
    const calls = many.map((id) =>
      send(at("/http"), {
        headers: session,
        body: JSON.stringify(toolCall("hang", id)),
        leaveAfter: 1,
      }),
    );
    await Promise.all(calls);
    const isLeft = () =>
      upstream.seen.filter(({ text, isLeft }) => isLeft && text.includes("hang"));
    await expect.poll(() => isLeft().length).toBe(many.length);
  });

  it("pauses its server while its client does not read", async () => {
    const sent = new Map<unknown, number>();
    const notice = `data: {"jsonrpc":"2.0","method":"x","params":{"x":"${"x".repeat(1_000_000)}"}}\n\n`;
    upstream.response = (response, request, message) => {
      if (message.method !== "tools/call") return mcpResponses({})(response, request, message);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const pump = () => {
        const megabytes = (sent.get(message.id) ?? 0) + 1;
        if (response.destroyed || megabytes > 200) return;
        sent.set(message.id, megabytes);
        if (response.write(notice)) setImmediate(pump);
        else response.once("drain", pump);
      };
      pump();
    };
    const session = await openSession(at("/http"));
    const clients = many.slice(0, 8).map((id) => {
      const client = new RawClient(gateway.port);
      client.socket.pause();
      client.send(requestText("/http", session, JSON.stringify(toolCall("flood", id))));
      return client;
    });
    const most = await settled(() => (sent.size < 8 ? -Math.random() : Math.max(...sent.values())));
    expect(most).toBeLessThan(50);
    for (const client of clients) client.socket.destroy();
  });

  it("stays with its caller, whichever thread it reaches", async () => {
    const session = await openSession(at("/child"), as("ada"));
    const { "mcp-session-id": id = "" } = session;
    expect(await statuses(at("/child"), session)).toEqual(new Set([200]));
    expect(await statuses(at("/child"), { ...session, ...as("bob") })).toEqual(new Set([404]));
    const [sealed] = id.split(".");
    const others = ["", ".0", ".1", ".2", ".3", ".999", ".1000", ".-1", ".x", ".00"];
    for (const other of others.filter((mark) => !id.endsWith(mark) || mark === "")) {
      const forged = { ...session, "mcp-session-id": `${sealed}${other}` };
      expect([other, await statuses(at("/child"), forged)]).toEqual([other, new Set([404])]);
    }
  });

  it("has its body forwarded as it arrives, up to the limit", async () => {
    const session = await openSession(at("/child"));
    for (const size of [1_000_000, 3_000_000]) {
      const args = { text: "y".repeat(size) };
      const sent = many
        .slice(0, 8)
        .map((id) => post(at("/child"), toolCall("args", id, args), session));
      const found = (await Promise.all(sent)).map(({ status }) => status);
      expect(new Set(found)).toEqual(new Set([size < 2_000_000 ? 200 : 413]));
    }
    const client = new RawClient(gateway.port);
    const body = JSON.stringify(toolCall("args"));
    const text = requestText("/child", session, body, { fields: "Expect: 100-continue\r\n" });
    client.send(text.slice(0, -body.length));
    await client.receives(/^HTTP\/1.1 100 Continue/);
    for (const byte of body) client.send(byte);
    await client.receives(/"result"/);
  });
});

it("a request that is handed over keeps the data of its connection: TLS, its server's name, its certificate", async () => {
  const { folder, ...options } = fragileThreads(threads);
  makeCertificate(folder, "site");
  makeCertificate(folder, "ca");
  for (const commonName of ["ada", "bob"])
    makeCertificate(folder, commonName, { signer: "ca", commonName });
  const rule =
    'request.scheme == "https" && source.subjectCn == "ada" && source.address == "127.0.0.1"';
  const route = {
    policies: { authorization: { rules: [rule] } },
    backends: [{ mcp: { targets: [child] } }],
  };
  const tls = { cert: "site.pem", key: "site.key", root: "ca.pem" };
  const listener = { hostname: "tools.example.com", protocol: "HTTPS", tls, routes: [route] };
  const gateway = await startGateway({ listeners: [listener], folder, ...options });
  await gateway.seen(/3 threads serve/);
  const ask = (who: string, session: Session, message: object) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpsRequest(gateway.url.replace("http:", "https:"), {
        method: "POST",
        agent: false,
        rejectUnauthorized: false,
        servername: "tools.example.com",
        cert: readFileSync(path.join(folder, `${who}.pem`)),
        key: readFileSync(path.join(folder, `${who}.key`)),
        headers: {
          host: "tools.example.com",
          accept: "application/json, text/event-stream",
          "content-type": "application/json",
          ...session,
        },
      });
      request.on("error", reject).on("response", (response) => resolve(response.resume()));
      request.end(JSON.stringify(message));
    });
  const opened = await ask("ada", {}, initialize);
  const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
  for (const [who, status] of [
    ["ada", 200],
    ["bob", 403],
  ] as const) {
    const asked = many.map((id) => ask(who, session, { jsonrpc: "2.0", id, method: "ping" }));
    const found = (await Promise.all(asked)).map(({ statusCode }) => statusCode);
    expect(new Set(found)).toEqual(new Set([status]));
  }
});

it("threads divide the sessions of a caller among themselves", async () => {
  const sessions = { max: 6, maxPerCaller: 2 };
  const gateway = await startMcpGateway(
    [{ name: "mcp", targets: [child], sessions }],
    {},
    fragileThreads(4),
  );
  await gateway.seen(/2 threads serve/);
  const opened: Session[] = [];
  for (const _ of many) opened.push(await openSession(gateway.url));
  const found = await Promise.all(
    opened.map(async (session) => (await post(gateway.url, toolCall("args"), session)).status),
  );
  expect(found.filter((status) => status === 200)).toHaveLength(2);
  expect((await post(gateway.url, initialize)).status).toBe(200);
});

it("a gateway with one thread contains no code for several", async () => {
  const modules = async (file: object) => {
    const routes = [{ backends: [{ mcp: { targets: [child] } }] }];
    const files = await bundle({
      config: { ...file, binds: [{ port: 3000, listeners: [{ routes }] }] },
    });
    return files.find(({ path }) => path === "modules.json")?.text;
  };
  const several = /http\/engine\/handover|process\/thread-(calls|links)|mcp\/session-handover/;
  expect(await modules({ config: { workerThreads: 2 } })).toMatch(several);
  expect(await modules({})).not.toMatch(several);
});
