import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { memoryHost } from "../../compiler/host.ts";
import type { HttpPort } from "../../runtime/gateway/http-port.ts";
import type { Exchange } from "../../runtime/http/exchange.ts";
import { compileFile } from "../harness/compile-file.ts";

/** Time to find the route of a request in a built gateway with a number of routes. */
export interface Decision {
  readonly routes: number;
  /** Nanoseconds, the minimum of many rounds: other load of the machine only adds time. */
  readonly nanoseconds: number;
}

/**
 * The time from a request to its route and back, without a connection: routes that answer by themselves, in built
 * gateways that differ in the number of their routes. A request through a proxy takes about 50,000 ns.
 */
export async function measureDecisions(counts: readonly number[]): Promise<readonly Decision[]> {
  const folder = mkdtempSync(join(tmpdir(), "gwc-decision-"));
  const found: Decision[] = [];
  try {
    for (const routes of counts) {
      const handle = await built(routes, join(folder, `${routes}.mjs`));
      found.push({ routes, nanoseconds: best(handle, targetsOf(routes)) });
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return found;
}

async function built(routes: number, file: string) {
  const list = Array.from({ length: routes }, (_, at) => ({
    name: `service-${at}`,
    matches: [{ path: { [at % 3 === 0 ? "exact" : "pathPrefix"]: pathOf(at) } }],
    policies: { directResponse: { status: 200, body: "x" } },
  }));
  const text = JSON.stringify({ binds: [{ port: 1, listeners: [{ name: "web", routes: list }] }] });
  const host = memoryHost({ "gateway.yaml": text });
  const { bundle } = await compileFile("gateway.yaml", { name: "decision", host });
  writeFileSync(file, bundle.text);
  const { gateway }: { readonly gateway: { readonly ports: readonly HttpPort[] } } = await import(
    pathToFileURL(file).href
  );
  const handle = gateway.ports[0]?.handle;
  if (handle === undefined) throw new Error("a gateway without a port");
  return handle;
}

function pathOf(at: number): string {
  return `/team-${at % 97}/service-${at}`;
}

/** Sixty-four requests for routes all over the table. */
function targetsOf(routes: number): readonly string[] {
  return Array.from({ length: 64 }, (_, index) => {
    const at = Math.floor((index * routes) / 64);
    return `${pathOf(at)}${at % 3 === 0 ? "" : "/items/1"}?q=x`;
  });
}

function best(handle: (exchange: Exchange) => unknown, targets: readonly string[]): number {
  const rounds = 200;
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 200; attempt++) {
    const start = process.hrtime.bigint();
    for (let round = 0; round < rounds; round++) {
      // Not all of an exchange: what a decision and a response of the gateway's own touch.
      for (const target of targets) handle(new Asked(target) as unknown as Exchange);
    }
    least = Math.min(least, Number(process.hrtime.bigint() - start));
  }
  return least / (rounds * targets.length);
}

/** A request, whose path is a string of its own each time, as a parser gives it. */
class Asked {
  readonly hostname = "api.example.com";
  readonly method = "GET";
  readonly record = {};
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
  }

  get path(): string {
    return this.#target.slice(0, this.#target.indexOf("?"));
  }

  respond(): void {}
}
