import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { memoryHost } from "../../compiler/host.ts";
import type { HttpPort } from "../../runtime/gateway/http-port.ts";
import type { Exchange } from "../../runtime/http/exchange.ts";
import { Metrics } from "../../runtime/metrics/metrics.ts";
import { compileFile } from "../harness/compile-file.ts";

/** Time that custom policies whose hooks do nothing add to a request. */
export interface EmptyPolicies {
  readonly count: number;
  /** Nanoseconds, the minimum of many rounds: other load of the machine only adds time. */
  readonly nanoseconds: number;
}

/** Policy whose hook does nothing. */
export const EMPTY_POLICY = `import { definePolicy } from "gwc/policy";
export default definePolicy({ request() {} });
`;

/** Measures routes of built gateways with so many empty policies, without a connection. */
export async function measureEmptyPolicies(
  counts: readonly number[],
): Promise<readonly EmptyPolicies[]> {
  const folder = mkdtempSync(join(tmpdir(), "gwc-policies-"));
  try {
    const base = best(await built(0, folder));
    const found: EmptyPolicies[] = [];
    for (const count of counts)
      found.push({ count, nanoseconds: best(await built(count, folder)) - base });
    return found;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function built(count: number, folder: string) {
  const names = Array.from({ length: count }, (_, index) => `./policies/empty-${index}.ts`);
  const directResponse = { status: 200, body: "x" };
  const policies = {
    directResponse,
    ...(count > 0 && { custom: names.map((use) => ({ use })) }),
  };
  const config = { binds: [{ port: 1, listeners: [{ name: "web", routes: [{ policies }] }] }] };
  const host = memoryHost({
    "gateway.yaml": JSON.stringify(config),
    ...Object.fromEntries(names.map((use) => [use.slice("./".length), EMPTY_POLICY])),
  });
  const { bundle } = await compileFile("gateway.yaml", { name: "empty", host });
  const file = join(folder, `${count}.mjs`);
  writeFileSync(file, bundle.text);
  const { gateway }: { readonly gateway: { readonly ports: readonly HttpPort[] } } = await import(
    pathToFileURL(file).href
  );
  const handle = gateway.ports[0]?.handle;
  if (handle === undefined) throw new Error("a gateway without a port");
  return handle;
}

const ROUNDS = 300;
const REQUESTS = 10_000;

function best(handle: (exchange: Exchange) => unknown): number {
  const gateway = { metrics: new Metrics() };
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    // Not all of an exchange: what routes, policies and a response of the gateway's own touch.
    for (let request = 0; request < REQUESTS; request++)
      handle(new Asked(gateway) as unknown as Exchange);
    least = Math.min(least, Number(process.hrtime.bigint() - start));
  }
  return least / REQUESTS;
}

class Asked {
  readonly hostname = "api.example.com";
  readonly method = "GET";
  readonly path = "/items/1";
  readonly record = {};
  readonly gateway: { readonly metrics: Metrics };

  constructor(gateway: { readonly metrics: Metrics }) {
    this.gateway = gateway;
  }

  respond(): void {}
}
