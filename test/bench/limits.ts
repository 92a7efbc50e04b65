import { spawn } from "node:child_process";
import { once } from "node:events";
import { freePort } from "../harness/free-port.ts";
import type { Case } from "./compare.ts";
import { get } from "./policies.ts";

/** A Redis server without a file. */
export interface BenchStore {
  readonly url: string;
  stop(): void;
}

/** Starts Redis. */
export async function startBenchStore(): Promise<BenchStore> {
  const port = await freePort();
  const options = ["--port", String(port), "--bind", "127.0.0.1", "--save", ""];
  const server = spawn("redis-server", options, { stdio: ["ignore", "pipe", "ignore"] });
  for await (const [text] of on(server.stdout)) if (/Ready to accept/.test(text)) break;
  return { url: `redis://127.0.0.1:${port}`, stop: () => void server.kill("SIGKILL") };
}

async function* on(output: NodeJS.ReadableStream): AsyncGenerator<readonly [text: string]> {
  for (;;) {
    const [bytes] = await once(output, "data");
    yield [String(bytes)];
  }
}

/** A plain proxy, the same once more, and a limit that a process counts alone, leases, or asks the store about. */
export function limitCases(host: string, url: string): readonly Case[] {
  const limit = { maxTokens: 1e9, tokensPerFill: 1e9, fillInterval: "1m" };
  const one = (name: string, policies: object): Case => ({
    name,
    routes: [{ name: "api", policies, backends: [{ host }] }],
    requests: [get("/items/1?q=x")],
  });
  const shared = (name: string, more: object): Case => ({
    ...one(name, { localRateLimit: [{ ...limit, ...more }] }),
    file: { config: { store: { redis: { url } } } },
  });
  return [
    one("plain", {}),
    { ...one("plain again", {}), gateway: "plain" },
    one("limit, local", { localRateLimit: [limit] }),
    one("limit, local (key)", { localRateLimit: [{ ...limit, key: "source.address" }] }),
    shared("limit, leased", {}),
    shared("limit, leased (key)", { key: "source.address" }),
    shared("limit, strict", { consistency: "strict" }),
  ];
}
