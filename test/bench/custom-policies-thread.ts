import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import type { HttpPort } from "../../runtime/gateway/http-port.ts";
import { type Exchange, RequestAttributes } from "../../runtime/http/exchange.ts";
import { textRefusal } from "../../runtime/http/refusal-format.ts";
import { Metrics } from "../../runtime/metrics/metrics.ts";

// A thread of custom-policies.ts: runs requests through the gateway in the bundle `workerData` for each message, and answers
// with the CPU nanoseconds of one.

const REQUESTS = 20_000;

/** Headers that `csrf` permits by its own list of origins. */
const HEADERS = [
  ["origin", "https://app.example.com"],
  ["sec-fetch-site", "cross-site"],
] as const;

const warnings: string[] = [];
const gateway = { metrics: new Metrics(), warn: (text: string) => warnings.push(text) };
let passed = 0;

/** The parts of an exchange that routes, policies and a response of the gateway's own touch. */
class Asked {
  readonly hostname = "api.example.com";
  readonly host = "api.example.com";
  readonly method = "POST";
  readonly path = "/items/1";
  readonly original = { method: "POST", host: "api.example.com" };
  readonly record = {};
  readonly attributes = new RequestAttributes();
  readonly refusalFormat = textRefusal;
  readonly gateway = gateway;
  readonly #headers = new Map<string, string>(HEADERS);

  header(name: string): string | undefined {
    return this.#headers.get(name);
  }

  setRequestHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  removeRequestHeader(name: string): void {
    this.#headers.delete(name);
  }

  respond(status: number): void {
    if (status === 200) passed += 1;
  }
}

const bundle: { readonly gateway: { readonly ports: readonly HttpPort[] } } = await import(
  pathToFileURL(String(workerData)).href
);
const handle = bundle.gateway.ports[0]?.handle;
if (handle === undefined) throw new Error("a gateway without a port");

parentPort?.on("message", () => {
  const before = passed;
  const start = process.threadCpuUsage();
  for (let request = 0; request < REQUESTS; request++) handle(new Asked() as unknown as Exchange);
  const { user, system } = process.threadCpuUsage(start);
  if (passed !== before + REQUESTS) throw new Error("a policy refused a request");
  parentPort?.postMessage(((user + system) * 1000) / REQUESTS);
});
