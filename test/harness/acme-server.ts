import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import path from "node:path";
import { makeCertificate } from "./certificate.ts";
import { eventually } from "./eventually.ts";
import { freePorts } from "./free-port.ts";
import { listen } from "./listen.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

/** Settings of Pebble; absent ones are its own. */
export interface AcmeOptions {
  /** Seconds for which certificates are valid. */
  readonly validity?: number;
  /** Share of valid nonces that it rejects, percent. */
  readonly rejectedNonces?: number;
  /** Key identifiers and keys of external accounts, which are then required. */
  readonly externalAccounts?: Readonly<Record<string, string>>;
}

/**
 * Pebble, Let's Encrypt's test server. Its names all have the address 127.0.0.1, and it asks for tokens on `httpPort`, and for
 * handshakes on `tlsPort`.
 */
export class AcmeServer {
  readonly folder = temporaryFolder();
  httpPort = 0;
  tlsPort = 0;
  #port = 0;
  #managementPort = 0;
  #namesPort: number | undefined;
  #process: TestProcess | undefined;
  readonly #options: AcmeOptions;

  private constructor(options: AcmeOptions) {
    this.#options = options;
  }

  /** Chooses its ports. It does not run yet. */
  static async prepare(options: AcmeOptions = {}): Promise<AcmeServer> {
    const server = new AcmeServer(options);
    const [port = 0, management = 0, http = 0, tls = 0] = await freePorts(4);
    server.#port = port;
    server.#managementPort = management;
    server.httpPort = http;
    server.tlsPort = tls;
    makeCertificate(server.folder, "server", { names: "IP:127.0.0.1" });
    return server;
  }

  static async start(options: AcmeOptions = {}): Promise<AcmeServer> {
    const server = await AcmeServer.prepare(options);
    await server.start();
    return server;
  }

  get directory(): string {
    return `https://127.0.0.1:${this.#port}/dir`;
  }

  /** Path of the authority of its own certificate. */
  get root(): string {
    return path.join(this.folder, "server.pem");
  }

  /** All that it logged since it was started last. */
  get output(): string {
    return this.#process?.output ?? "";
  }

  /** Number of certificates that it issued since it was started last. */
  get issued(): number {
    return this.output.split("Issued certificate serial").length - 1;
  }

  /** Runs it, again after a stop: it has then forgotten everything. */
  async start(): Promise<void> {
    this.#namesPort ??= await nameServer();
    const { validity = 7_776_000, externalAccounts, rejectedNonces = 10 } = this.#options;
    const settings = {
      listenAddress: `127.0.0.1:${this.#port}`,
      managementListenAddress: `127.0.0.1:${this.#managementPort}`,
      certificate: this.root,
      privateKey: path.join(this.folder, "server.key"),
      httpPort: this.httpPort,
      tlsPort: this.tlsPort,
      externalAccountBindingRequired: externalAccounts !== undefined,
      externalAccountMACKeys: externalAccounts,
      profiles: { default: { description: "for tests", validityPeriod: validity } },
    };
    const file = path.join(this.folder, "pebble.json");
    writeFileSync(file, JSON.stringify({ pebble: settings }));
    const names = `127.0.0.1:${this.#namesPort}`;
    this.#process = new TestProcess(
      program("pebble"),
      ["-config", file, "-dnsserver", names, "-strict"],
      { env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_WFE_NONCEREJECT: String(rejectedNonces) } },
    );
    await this.#process.seen(/ACME directory available/);
    // The port of the management is opened by itself.
    await eventually(() => this.issuer().catch(() => null), "the certificate of Pebble");
  }

  async stop(): Promise<void> {
    await this.#process?.stop("SIGKILL");
  }

  /** Returns the certificate of the authority that signs, PEM. It is another one after each start. */
  issuer(): Promise<string> {
    return this.#manage("/roots/0");
  }

  #manage(page: string): Promise<string> {
    const options = { rejectUnauthorized: false, port: this.#managementPort, path: page };
    return new Promise((resolve, reject) => {
      request({ ...options, host: "127.0.0.1", agent: false }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () => resolve(text));
      })
        .on("error", reject)
        .end();
    });
  }
}

/** Starts a name server, over TCP, for which every name has the address 127.0.0.1 and nothing else. */
async function nameServer(): Promise<number> {
  const server = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on("data", (piece) => {
      received = Buffer.concat([received, piece]);
      // Each message has its length in front (RFC 1035 4.2.2).
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const answer = answerTo(received.subarray(2, end));
        socket.write(Buffer.concat([Buffer.from([0, answer.length]), answer]));
        received = received.subarray(end);
      }
    });
    socket.on("error", () => socket.destroy());
  });
  return listen(server);
}

/** Answers one question (RFC 1035 4.1). */
function answerTo(query: Buffer): Buffer {
  const end = query.indexOf(0, 12) + 5;
  const question = query.subarray(12, end);
  const isAddress = question.readUInt16BE(question.length - 4) === 1;
  const head = Buffer.from([0, 0, 0x84, 0, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]);
  query.copy(head, 0, 0, 2);
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 127, 0, 0, 1]);
  return Buffer.concat([head, question, ...(isAddress ? [answer] : [])]);
}
