import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import { connect, createServer as createNetServer, type Server, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** A gateway that runs as its own process; it is gone when the test has finished. */
export class GatewayProcess {
  readonly child: ChildProcess;
  output = "";
  errors = "";
  readonly #exited: Promise<number | null>;

  constructor(script: string, environment: Readonly<Record<string, string>>) {
    const path = fileURLToPath(new URL(`fixtures/${script}`, import.meta.url));
    this.child = spawn(process.execPath, [path], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...process.env, ...environment },
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

/** The plain fixture in front of an upstream. */
export async function startPlain(
  upstream: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ gateway: GatewayProcess; port: number; url: string }> {
  const gateway = new GatewayProcess("gateway.ts", { UPSTREAM: upstream, ...environment });
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
