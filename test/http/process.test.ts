import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../harness/eventually.ts";
import { freePort } from "../harness/free-port.ts";
import type { Gateway } from "../harness/gateway.ts";
import { pause } from "../harness/pause.ts";
import { RawClient } from "../harness/raw-client.ts";
import { startUpstream } from "../harness/upstream.ts";
import { handwrittenGateway } from "./handwritten-gateway.ts";
import { startPlain } from "./plain-gateway.ts";

describe("a gateway that can't start ends with 1 and one line that says why", () => {
  it("a variable that is not set", async () => {
    const gateway = handwrittenGateway("gateway.ts", {});
    expect(await gateway.exited).toBe(1);
    expect(gateway.stderr).toBe("error: the environment variable UPSTREAM is not set\n");
  });

  it("an upstream whose URL is malformed, without the credentials in it", async () => {
    const gateway = handwrittenGateway("gateway.ts", {
      UPSTREAM: "http://user:pass@host:99999",
    });
    expect(await gateway.exited).toBe(1);
    expect(gateway.stderr).toBe('error: "http://host:99999" is not the URL of an HTTP server\n');
  });

  it("a port that is in use, with its line in the configuration", async () => {
    const blocker = createServer();
    onTestFinished(() => {
      blocker.close();
    });
    const port = await new Promise<number>((resolve) => {
      blocker.listen(0, () => {
        const address = blocker.address();
        if (address !== null && typeof address === "object") resolve(address.port);
      });
    });
    const gateway = handwrittenGateway("reload.ts", {
      FIRST_PORT: String(port),
      SECOND_PORT: "1",
    });
    expect(await gateway.exited).toBe(1);
    // Its log is JSON, and so is this line.
    expect(JSON.parse(gateway.stderr)).toMatchObject({
      level: "error",
      message: `cannot listen on 0.0.0.0:${port} (gateway.yaml:2): the port is in use`,
    });
  });

  it.each([
    [
      "SESSION_KEY",
      `${"ab".repeat(32)},abc`,
      "SESSION_KEY must be 64 hexadecimal digits (32 bytes), or several such keys with commas between them",
    ],
    ["SESSION_KEY", Array(5).fill("ab".repeat(32)).join(), "SESSION_KEY must have at most 4 keys"],
    ["LOG_FORMAT", "xml", 'LOG_FORMAT must be "text" or "json", not "xml"'],
    ["STATS_ADDR", "here", 'the stats address must be HOST:PORT or off, not "here"'],
    [
      "CONNECTION_MIN_TERMINATION_DEADLINE",
      "soon",
      'CONNECTION_MIN_TERMINATION_DEADLINE must be seconds or a duration like "10s", not "soon"',
    ],
  ])("a malformed %s", async (name, value, message) => {
    const gateway = handwrittenGateway("gateway.ts", {
      UPSTREAM: "http://x",
      [name]: value,
    });
    expect(await gateway.exited).toBe(1);
    expect(gateway.stderr).toBe(`error: ${message}\n`);
  });
});

describe("SIGTERM", () => {
  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "%s lets a stream end by itself, refuses new connections, and ends with 0",
    async (signal) => {
      let finish: (() => void) | undefined;
      const upstream = await startUpstream((_request, response) => {
        response.write("data: 1\n\n");
        finish = () => response.end("data: last\n\n");
      });
      const { gateway, port } = await startPlain(upstream);
      const client = new RawClient(port);
      client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await client.receives(/data: 1/);
      gateway.signal(signal);
      await gateway.seen(/draining/);
      await refuses(port);
      finish?.();
      await client.receives(/data: last/);
      await client.closes();
      expect(await gateway.exited).toBe(0);
    },
  );

  it("turns readiness 503 at once, and serves on for the minimum", async () => {
    const upstream = await startUpstream((_request, response) => response.end("ok"));
    const { gateway, url } = await startPlain(upstream, {
      CONNECTION_MIN_TERMINATION_DEADLINE: "120s",
    });
    const ready = `http://127.0.0.1:${await gateway.readinessPort()}/healthz/ready`;
    expect((await fetch(ready)).status).toBe(200);
    gateway.signal("SIGTERM");
    await gateway.seen(/draining/);
    const draining = await fetch(ready);
    expect(draining.status).toBe(503);
    const served = await fetch(url);
    expect(served.status).toBe(200);
    expect(served.headers.get("connection")).toBe("close");
    const brief = await startPlain(upstream, { CONNECTION_MIN_TERMINATION_DEADLINE: "2s" });
    const started = performance.now();
    expect(await brief.gateway.stop()).toBe(0);
    expect(performance.now() - started).toBeGreaterThan(1900);
  });

  it("aborts what has not ended at the maximum, and still exits with 0", async () => {
    const upstream = await startUpstream((_request, response) => response.write("data: 1\n\n"));
    const { gateway, port } = await startPlain(upstream, {
      CONNECTION_TERMINATION_DEADLINE: "500ms",
    });
    const client = new RawClient(port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/data: 1/);
    gateway.signal("SIGTERM");
    await client.closes();
    expect(client.received).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(await gateway.exited).toBe(0);
    expect(gateway.output).toMatch(/reason=Draining/);
  });

  it("closes idle connections at once", async () => {
    const upstream = await startUpstream((_request, response) => response.end("ok"));
    const { gateway, port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/ok/);
    gateway.signal("SIGTERM");
    await client.closes();
    expect(await gateway.exited).toBe(0);
  });

  it("a second time ends the process at once", async () => {
    const reached = Promise.withResolvers<void>();
    const upstream = await startUpstream(() => reached.resolve());
    const { gateway, port } = await startPlain(upstream);
    const client = new RawClient(port);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await reached.promise;
    gateway.signal("SIGTERM");
    await gateway.seen(/draining/);
    gateway.signal("SIGTERM");
    expect(await gateway.exited).toBe(1);
  });
});

describe("a definition that replaces another", () => {
  it("keeps kept connections, opens new ports and closes removed ones", async () => {
    const { gateway, first, second } = await startReload();
    const client = new RawClient(first);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/one$/);
    await replace(gateway, "two", /replaced/);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/two$/);
    expect(await text(second)).toBe("two, second port");
    await replace(gateway, "one", /replaced\n.*replaced/s);
    await refuses(second);
    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.receives(/one$/);
    expect(client.isClosed).toBe(false);
  });

  it("that can't be served leaves the one before as it was", async () => {
    const { gateway, first, second } = await startReload();
    const blocker = createServer();
    onTestFinished(() => {
      blocker.close();
    });
    await new Promise<void>((resolve) => blocker.listen(second, resolve));
    await replace(gateway, "two", /not replaced: cannot listen on .*gateway\.yaml:9.*in use/);
    expect(await text(first)).toBe("one");
    await replace(gateway, "secure", /not replaced: gateway\.yaml:2: .*other\.pem can't be read/);
    expect(await text(first)).toBe("one");
  });
});

async function startReload(): Promise<{ gateway: Gateway; first: number; second: number }> {
  const first = await freePort();
  const second = await freePort();
  const gateway = handwrittenGateway("reload.ts", {
    FIRST_PORT: String(first),
    SECOND_PORT: String(second),
    GWC_CONFIG_DIR: "/nonexistent",
  });
  await eventually(() => /listening on/.exec(gateway.output), "the first port");
  return { gateway, first, second };
}

async function replace(gateway: Gateway, name: string, outcome: RegExp): Promise<void> {
  gateway.write(`${name}\n`);
  await gateway.seen(outcome);
}

async function text(port: number): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}/`)).text();
}

/** Waits until the port refuses connections. */
async function refuses(port: number): Promise<void> {
  await eventually(async () => {
    const client = new RawClient(port);
    await new Promise<void>((resolve) => {
      client.socket.once("connect", resolve);
      client.socket.once("close", () => resolve());
    });
    await pause(0);
    const isRefused = client.isClosed;
    client.socket.destroy();
    return isRefused || null;
  }, `the end of port ${port}`);
}
