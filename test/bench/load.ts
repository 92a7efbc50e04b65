import { connect, type Socket } from "node:net";
import { json } from "node:stream/consumers";
import { connect as connectTls } from "node:tls";

// A load generator: `node load.ts PORT SECONDS|COUNTx CONNECTIONS [tls]`, with a JSON list of requests on stdin, for so long or
// so many. Each connection sends the next one, in turns, when its response is complete; below 400 is a good one. Prints {"responses": n, "failures": n, "latencies": {...}} of its run.

const [port = "", length = "", connections = "", tls] = process.argv.slice(2);
const most = length.endsWith("x") ? Number(length.slice(0, -1)) : Number.POSITIVE_INFINITY;
const texts = (await json(process.stdin)) as readonly string[];
const requests = texts.map((text) => Buffer.from(text, "latin1"));
const lastChunk = Buffer.from("\r\n0\r\n\r\n");
let asked = 0;
const latencies: number[] = [];
let responses = 0;
let failures = 0;
let isOver = false;

/** One connection that asks again and again. */
class Client {
  readonly #socket: Socket;
  #pending: Buffer = Buffer.alloc(0);
  #sent = 0;

  constructor() {
    const begin = (): void => this.#ask();
    const host = "127.0.0.1";
    this.#socket =
      tls === undefined
        ? connect(Number(port), host, begin)
        : connectTls({ port: Number(port), host, rejectUnauthorized: false }, begin);
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (chunk) => this.#take(chunk));
    this.#socket.on("error", () => {
      if (!isOver) failures += 1;
    });
    this.#socket.on("close", () => {
      if (!isOver) failures += 1;
    });
  }

  end(): void {
    this.#socket.destroy();
  }

  #ask(): void {
    this.#sent = performance.now();
    this.#socket.write(requests[asked++ % requests.length] ?? "");
  }

  #take(chunk: Buffer): void {
    const bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    const headEnd = bytes.indexOf("\r\n\r\n");
    if (headEnd === -1) {
      this.#pending = bytes;
      return;
    }
    const head = bytes.toString("latin1", 0, headEnd);
    if (/transfer-encoding: chunked/i.test(head)) {
      if (!bytes.subarray(-lastChunk.length).equals(lastChunk)) {
        this.#pending = bytes;
        return;
      }
      this.#complete(head);
      return;
    }
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? "0");
    if (bytes.length < headEnd + 4 + length) {
      this.#pending = bytes;
      return;
    }
    this.#complete(head);
  }

  #complete(head: string): void {
    this.#pending = Buffer.alloc(0);
    if (/^HTTP\/1\.1 [23]/.test(head)) responses += 1;
    else failures += 1;
    latencies.push(performance.now() - this.#sent);
    if (latencies.length === most) finish();
    else if (asked < most) this.#ask();
  }
}

const clients = Array.from({ length: Number(connections) }, () => new Client());
if (most === Number.POSITIVE_INFINITY) setTimeout(finish, Number(length) * 1000);

function finish(): void {
  isOver = true;
  for (const client of clients) client.end();
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  process.stdout.write(JSON.stringify({ responses, failures, p50: at(0.5), p99: at(0.99) }));
}
