import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.ts";
import type { Gateway } from "../harness/gateway.ts";
import { isAlive } from "../harness/is-alive.ts";
import { RawClient } from "../harness/raw-client.ts";
import { program } from "../harness/tool.ts";
import { startHandwritten } from "./mcp-gateway.ts";
import { messagesOf, openSession, post, send, toolCall } from "./raw-client.ts";
import { requestText } from "./thread-gateway.ts";

const script = fileURLToPath(new URL("./fixtures/scripted-stdio.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gwc-stdio-"));
const journal = join(folder, "journal");
let gateway: Gateway;

async function start(args: readonly string[] = [], more: object = {}): Promise<void> {
  gateway = await startHandwritten(
    {
      routes: [
        {
          name: "mcp",
          targets: [
            {
              name: "child",
              stdio: { cmd: process.execPath, args: [script, ...args], env: { JOURNAL: journal } },
            },
          ],
          ...more,
        },
      ],
    },
    { GATEWAY_SECRET: "not for children", SSL_CERT_FILE: "/authorities.pem" },
  );
}

function pids(kind: "child" | "grandchild"): number[] {
  const pattern = new RegExp(`: ${kind} (\\d+)`, "g");
  return [...gateway.output.matchAll(pattern)].map((match) => Number(match[1]));
}

/** Waits for the only child and its own child; returns both ids. */
async function family(): Promise<readonly number[]> {
  await until(() => pids("child").length === 1 && pids("grandchild").length === 1);
  return [...pids("child"), ...pids("grandchild")];
}

/** Returns the children of a process. */
function childrenOf(pid: number): number[] {
  const found = spawnSync(program("ps"), ["-o", "pid=", "--ppid", String(pid)], {
    encoding: "utf8",
  });
  return found.stdout.trim().split(/\s+/).map(Number);
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  await eventually(async () => (await condition()) || null, String(condition));
}

afterAll(() => rmSync(folder, { recursive: true }));

describe("a child", () => {
  beforeAll(() => start(["a b", "$HOME; `id`", "--grandchild"]));
  afterAll(() => gateway.stop());

  it("gets its arguments unchanged, without a shell", async () => {
    const session = await openSession(gateway.url);
    const response = await post(gateway.url, toolCall("args"), session);
    expect(response.text).toContain(
      JSON.stringify(JSON.stringify(["a b", "$HOME; `id`", "--grandchild"])),
    );
  });

  it("gets PATH and its own variables, but nothing else of the gateway's environment", async () => {
    const session = await openSession(gateway.url);
    const response = await post(gateway.url, toolCall("env"), session);
    expect(response.text).toContain("JOURNAL");
    expect(response.text).toContain("PATH");
    expect(response.text).not.toContain("not for children");
    expect(response.text).not.toContain("GATEWAY_FIXTURE");
  });

  it("trusts the CA certificates that the gateway trusts", async () => {
    const session = await openSession(gateway.url);
    const response = await post(gateway.url, toolCall("env"), session);
    expect(response.text).toContain("SSL_CERT_FILE");
  });

  it("responds under the exact id of the request, even beyond 2^53", async () => {
    const session = await openSession(gateway.url);
    const body = '{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}';
    const response = await post(gateway.url, body, session);
    expect(response.text).toBe('{"jsonrpc":"2.0","id":9007199254740993,"result":{}}');
  });

  it("gets a multi-line message on one line, otherwise unchanged", async () => {
    const session = await openSession(gateway.url);
    const body =
      '{\n "jsonrpc": "2.0",\r\n "id": 1.0, "method": "ping", "x": 12345678901234567890}';
    expect((await post(gateway.url, body, session)).status).toBe(200);
    expect(readFileSync(journal, "utf8")).toContain(
      '{  "jsonrpc": "2.0",   "id": 1.0, "method": "ping", "x": 12345678901234567890}\n',
    );
  });

  it("may write invalid output, which is logged and skipped", async () => {
    const session = await openSession(gateway.url);
    const response = await post(gateway.url, toolCall("rubbish"), session);
    expect(response.text).toContain("still here");
    await until(() => gateway.output.includes("not a message: npm warn this is not JSON"));
  });

  it("may send a notification before its response, which makes that a stream", async () => {
    const session = await openSession(gateway.url);
    const response = await post(gateway.url, toolCall("log"), session);
    expect(response.headers["content-type"]).toBe("text/event-stream");
    expect(messagesOf(response)).toMatchObject([{ params: { data: "first" } }, { id: 1 }]);
  });

  it("has its process group ended with the session", async () => {
    const session = await openSession(gateway.url);
    const { text } = await post(gateway.url, toolCall("pids"), session);
    const started = (/"text":"(\d+ \d+)"/.exec(text)?.[1] ?? "").split(" ").map(Number);
    expect(started.map(isAlive)).toEqual([true, true]);
    const response = await send(gateway.url, { method: "DELETE", headers: session });
    expect(response.status).toBe(204);
    await until(() => !started.some(isAlive));
    expect((await post(gateway.url, toolCall("args"), session)).status).toBe(404);
  });

  it("that dies fails the calls in flight and ends its session", async () => {
    const session = await openSession(gateway.url);
    const call = toolCall("hang", 7);
    const hanging = post(gateway.url, call, session);
    await until(() => readFileSync(journal, "utf8").includes(JSON.stringify(call)));
    const dying = post(gateway.url, toolCall("die", 8), session);
    for (const [id, response] of [
      [7, await hanging],
      [8, await dying],
    ] as const) {
      expect(response.status).toBe(502);
      expect(JSON.parse(response.text)).toMatchObject({ id, error: { code: -32603 } });
    }
    expect((await post(gateway.url, toolCall("args"), session)).status).toBe(404);
    await openSession(gateway.url);
  });

  it("gives no second response for an id that is in use", async () => {
    const session = await openSession(gateway.url);
    const first = send(gateway.url, {
      headers: session,
      body: JSON.stringify(toolCall("hang", "x")),
    });
    await until(() => readFileSync(journal, "utf8").includes('"id":"x"'));
    const second = await post(gateway.url, toolCall("hang", "x"), session);
    expect(second.status).toBe(400);
    await send(gateway.url, { method: "DELETE", headers: session });
    expect((await first).status).toBe(502);
  });

  it("gets the client's cancellation, which ends the request without a response", async () => {
    const session = await openSession(gateway.url);
    const call = toolCall("hang", 5);
    const hanging = post(gateway.url, call, session);
    await until(() => readFileSync(journal, "utf8").includes(JSON.stringify(call)));
    const params = { requestId: 5 };
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    expect((await post(gateway.url, notice, session)).status).toBe(202);
    expect((await hanging).text).toBe("");
    await until(() => readFileSync(journal, "utf8").includes(JSON.stringify(notice)));
  });

  it("gets a cancellation when the client disconnects", async () => {
    const session = await openSession(gateway.url);
    const controller = new AbortController();
    const headers = { ...session, "content-type": "application/json", accept: "*/*" };
    const body = JSON.stringify(toolCall("hang", "left"));
    const hanging = fetch(gateway.url, {
      method: "POST",
      headers,
      body,
      signal: controller.signal,
    });
    await until(() => readFileSync(journal, "utf8").includes(body));
    controller.abort();
    await expect(hanging).rejects.toThrow();
    await until(() => readFileSync(journal, "utf8").includes('"requestId":"left"'));
  });

  it("gets an error for a request to a client that disconnects", async () => {
    const session = await openSession(gateway.url);
    const body = JSON.stringify(toolCall("ask", "asking"));
    await send(gateway.url, { headers: session, body, leaveAfter: 5 });
    await until(() => readFileSync(journal, "utf8").includes('"id":"asked","error"'));
  });

  it("can send the client a request on the stream of its current request", async () => {
    const session = await openSession(gateway.url);
    const listening = await fetch(gateway.url, {
      headers: { ...session, accept: "text/event-stream" },
    });
    const headers = { ...session, "content-type": "application/json", accept: "*/*" };
    const body = JSON.stringify(toolCall("ask", 3));
    const call = await fetch(gateway.url, { method: "POST", headers, body });
    const reader = call.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const read = async (wanted: string) => {
      while (!text.includes(wanted)) text += (await reader?.read())?.value ?? "";
    };
    await read('"id":"asked","method":"roots/list"');
    const result = { roots: [{ uri: "file:///x" }] };
    await post(gateway.url, { jsonrpc: "2.0", id: "asked", result }, session);
    await read(`"data":${JSON.stringify(result)}`);
    await send(gateway.url, { method: "DELETE", headers: session });
    await read('"id":3,"error":{"code":-32603');
    expect(await listening.text()).toBe("");
  });

  it("sends messages on the GET stream when no request is in flight", async () => {
    const session = await openSession(gateway.url);
    const listening = await fetch(gateway.url, {
      headers: { ...session, accept: "text/event-stream" },
    });
    await post(gateway.url, { jsonrpc: "2.0", id: "asked", result: "heard" }, session);
    const reader = listening.body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toContain('"data":"heard"');
    await send(gateway.url, { method: "DELETE", headers: session });
    expect((await reader?.read())?.done).toBe(true);
  });
});

describe("the gateway", () => {
  afterEach(() => gateway.stop());

  it("ends its children and theirs when it ends", async () => {
    await start(["--grandchild", "--stubborn"]);
    await openSession(gateway.url);
    const started = await family();
    expect(await gateway.stop()).toBe(0);
    await until(() => !started.some(isAlive));
  });

  it("leaves no processes when it is killed", async () => {
    await start(["--grandchild", "--stubborn"]);
    await openSession(gateway.url);
    const started = await family();
    const others = () => childrenOf(gateway.pid).filter((pid) => !started.includes(pid));
    // A process that is just starting may also be visible.
    await until(() => others().length === 1);
    const guards = others();
    await gateway.stop("SIGKILL");
    await until(() => ![...started, ...guards].some(isAlive));
  });

  it("ends a call that hangs at its deadline", async () => {
    await start([], { timeouts: { call: 2000 } });
    const session = await openSession(gateway.url);
    const response = await post(gateway.url, toolCall("hang", 4), session);
    expect(response.status).toBe(504);
    expect(JSON.parse(response.text)).toMatchObject({ id: 4, error: { code: -32603 } });
    // A starved process may miss the deadline of this call as well.
    await until(async () => (await post(gateway.url, toolCall("args"), session)).status === 200);
  });

  it("gives up on a child that does not start", async () => {
    await start(["--slow-start"], { timeouts: { initialize: 1000 } });
    await expect(openSession(gateway.url)).rejects.toThrow("504");
    await until(() => pids("child").length === 1 && !pids("child").some(isAlive));
  });

  it("ends a session whose child writes a line over the limit", async () => {
    await start([], { limits: { message: 1_000_000 } });
    const session = await openSession(gateway.url);
    const response = await post(gateway.url, toolCall("huge"), session);
    expect(response.status).toBe(502);
    await until(() => !pids("child").some(isAlive));
  });

  it("ends unused sessions", async () => {
    await start([], { timeouts: { idle: 300 } });
    const session = await openSession(gateway.url);
    await until(() => pids("child").length === 1 && !pids("child").some(isAlive));
    expect((await post(gateway.url, toolCall("args"), session)).status).toBe(404);
  });

  it("makes room for a new session by ending the longest idle one", async () => {
    await start([], { limits: { sessions: 2 } });
    const first = await openSession(gateway.url);
    const second = await openSession(gateway.url);
    expect((await post(gateway.url, toolCall("args"), first)).status).toBe(200);
    await openSession(gateway.url);
    expect((await post(gateway.url, toolCall("args"), second)).status).toBe(404);
    expect((await post(gateway.url, toolCall("args"), first)).status).toBe(200);
  });

  it("turns a slow call into a stream", async () => {
    await start([], { timeouts: { keepAlive: 100 } });
    const session = await openSession(gateway.url);
    const client = new RawClient(gateway.port);
    client.send(requestText("/mcp", session, JSON.stringify(toolCall("hang", 9))));
    await client.receives(": keep-alive\n\n");
    await send(gateway.url, { method: "DELETE", headers: session });
    await client.receives(/data: .*"id":9,"error":\{"code":-32603/);
  });

  it("responds with 503 for a command that does not exist", async () => {
    gateway = await startHandwritten({
      routes: [{ name: "mcp", targets: [{ name: "none", stdio: { cmd: "/nonexistent/server" } }] }],
    });
    await expect(openSession(gateway.url)).rejects.toThrow("503");
  });
});
