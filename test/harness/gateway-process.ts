import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { connect, createServer as createNetServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, onTestFinished } from "vitest";
import { writeFiles } from "../../compiler/4-emit/write.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "./compile-file.ts";

/** Any free ports. */
const serviceAddresses = { STATS_ADDR: "127.0.0.1:0", READINESS_ADDR: "127.0.0.1:0" };

/** A gateway that runs as its own process; it is gone when the test has finished. */
export class GatewayProcess {
  readonly child: ChildProcess;
  output = "";
  errors = "";
  readonly #exited: Promise<number | null>;

  constructor(script: string, environment: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, [script], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...serviceAddresses, ...environment },
    });
    this.child.stdout?.on("data", (chunk) => {
      this.output += chunk;
    });
    this.child.stderr?.on("data", (chunk) => {
      this.errors += chunk;
    });
    this.#exited = new Promise((resolve) => this.child.on("exit", (code) => resolve(code)));
    onTestFinished(async () => {
      this.child.kill("SIGKILL");
      await this.#exited;
    });
  }

  /** The exit code, once it has ended. */
  get exited(): Promise<number | null> {
    return this.#exited;
  }

  /** The first group of a pattern, as soon as the output has it. */
  async seen(pattern: RegExp): Promise<string> {
    const look = () => {
      const match = pattern.exec(this.output);
      if (match === null && this.child.exitCode !== null) throw new Error(`ended: ${this.errors}`);
      return match;
    };
    const found = await eventually(look, `${pattern} in the output`);
    return found[1] ?? found[0];
  }

  async port(): Promise<number> {
    return Number(await this.seen(/listening on 0\.0\.0\.0:(\d+)/));
  }

  async statsPort(): Promise<number> {
    return Number(await this.seen(/stats address on 127\.0\.0\.1:(\d+)/));
  }

  async readinessPort(): Promise<number> {
    return Number(await this.seen(/readiness address on 127\.0\.0\.1:(\d+)/));
  }
}

/** A compiled gateway that forwards everything to an upstream. */
export async function startPlain(
  upstream: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ gateway: GatewayProcess; port: number; url: string }> {
  plain ??= compilePlain();
  return start(new GatewayProcess(await plain, { UPSTREAM: upstream, ...environment }));
}

/**
 * A gateway with handlers that no configuration gives: they throw, response in halves, set headers of their own. See
 * fixtures/gateway.ts.
 */
export async function startScripted(
  upstream: string,
): Promise<{ gateway: GatewayProcess; port: number; url: string }> {
  return start(new GatewayProcess(fixture("gateway.ts"), { UPSTREAM: upstream }));
}

/** The path of a hand-written gateway. */
export function fixture(script: string): string {
  return fileURLToPath(new URL(`../http/fixtures/${script}`, import.meta.url));
}

/** The bundle of the plain gateway: made once for a file of tests, whose gateways follow each other on one port. */
let plain: Promise<string> | undefined;

afterAll(async () => {
  if (plain !== undefined) rmSync(dirname(await plain), { recursive: true });
});

async function compilePlain(): Promise<string> {
  const route = `{name: plain, backends: [{host: "\${UPSTREAM}"}]}`;
  const config = `binds: [{port: ${await freePort()}, listeners: [{name: http, routes: [${route}]}]}]`;
  const host = memoryHost({ "gateway.yaml": config });
  const { files } = await compileFile("gateway.yaml", { name: "plain", host });
  const folder = mkdtempSync(join(tmpdir(), "gwc-http-"));
  writeFiles(folder, files);
  return join(folder, "gateway.mjs");
}

async function start(
  gateway: GatewayProcess,
): Promise<{ gateway: GatewayProcess; port: number; url: string }> {
  const port = await gateway.port();
  return { gateway, port, url: `http://127.0.0.1:${port}` };
}

/** A real HTTP server on a free port; gone when the test has finished. */
export async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A server of raw connections: what no well-behaved HTTP server sends. */
export async function startRawUpstream(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createNetServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createNetServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address !== null && typeof address === "object") resolve(address.port);
    });
  });
}

/** A raw connection to the gateway. */
export class RawClient {
  readonly socket: Socket;
  received = "";
  isClosed = false;

  constructor(port: number) {
    this.socket = connect(port, "127.0.0.1");
    this.socket.on("data", (chunk) => {
      this.received += chunk.toString("latin1");
    });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
    onTestFinished(() => {
      this.socket.destroy();
    });
  }

  send(text: string): void {
    this.socket.write(text, "latin1");
  }

  async receives(pattern: RegExp): Promise<void> {
    await eventually(() => pattern.test(this.received) || null, `${pattern} on the connection`);
  }

  async closes(): Promise<void> {
    await eventually(() => this.isClosed || null, "the end of the connection");
  }
}

/** Waits until a look finds something; throws after ten seconds. */
export async function eventually<T>(look: () => T | null, what: string): Promise<T> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const found = look();
    if (found !== null) return found;
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await pause(5);
  }
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
