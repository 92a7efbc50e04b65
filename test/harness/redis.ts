import { Redis } from "iovalkey";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

/** Programs that speak the protocol of Redis. */
export const redisPrograms = ["redis-server", "valkey-server"] as const;

/** One of them. */
export type RedisProgram = (typeof redisPrograms)[number];

/** Settings of a Redis server. */
export interface RedisOptions {
  readonly password?: string;
  /** Program to run; Redis unless given. */
  readonly server?: RedisProgram;
  /** Further options of its command line. */
  readonly options?: readonly string[];
}

/** A Redis server that writes each change to disk, so that it can be killed and started again on the same port. */
export class RedisServer {
  readonly port: number;
  readonly #folder = temporaryFolder();
  readonly #options: RedisOptions;
  #process: TestProcess | undefined;

  private constructor(port: number, options: RedisOptions) {
    this.port = port;
    this.#options = options;
  }

  static async start(options: RedisOptions = {}): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), options);
    await server.start();
    return server;
  }

  /** URL with the password. */
  get url(): string {
    const { password } = this.#options;
    return `redis://${password === undefined ? "" : `:${password}@`}127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const { password, options = [], server = "redis-server" } = this.#options;
    this.#process = new TestProcess(program(server), [
      ...["--port", String(this.port), "--bind", "127.0.0.1", "--dir", this.#folder],
      ...["--save", "", "--appendonly", "yes", "--appendfsync", "always"],
      ...(password === undefined ? [] : ["--requirepass", password]),
      ...options,
    ]);
    await this.#process.seen(/Ready to accept connections/);
  }

  /** Waits until it has done all that gateways sent which have ended: it reads connections in any order. */
  async settled(): Promise<void> {
    const client = new Redis(this.url);
    const hasLeft = async () => !String(await client.client("LIST")).includes("name=gwc") || null;
    await eventually(hasLeft, "the end of connections of gateways").finally(() =>
      client.disconnect(),
    );
  }

  /** Ends it at once, as `kill -9` does. */
  async kill(): Promise<void> {
    await this.#process?.stop("SIGKILL");
  }
}
