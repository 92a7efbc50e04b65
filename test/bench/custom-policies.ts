import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { CSRF_POLICY, HEADERS_POLICY } from "../policies/public-twins.ts";
import { quantile } from "./compare.ts";

/** A route whose policies are measured without a connection. */
interface PolicyCase {
  readonly name: string;
  /** Policies in addition to a response of the gateway's own. */
  readonly policies: object;
}

/** Time that policies add to a request. */
export interface PolicyCost {
  readonly name: string;
  /** CPU nanoseconds in addition to those of the route without them: the median of paired rounds. */
  readonly nanoseconds: number;
  /** Quarters of these rounds. */
  readonly from: number;
  readonly to: number;
}

/** Policy whose hook does nothing. */
export const EMPTY_POLICY = `import { definePolicy } from "gwc/policy";
export default definePolicy({ request() {} });
`;

const MODULES: Readonly<Record<string, string>> = {
  "policies/a.ts": EMPTY_POLICY,
  "policies/b.ts": EMPTY_POLICY,
  "policies/c.ts": EMPTY_POLICY,
  "policies/csrf.ts": CSRF_POLICY,
  "policies/headers.ts": HEADERS_POLICY,
};

const custom = (...names: readonly string[]) =>
  names.map((name) => ({ use: `./policies/${name}.ts` }));
const own = "https://app.example.com";
const changes = { name: "x-a", value: "1", remove: "x-b" };

const CASES: readonly PolicyCase[] = [
  { name: "none", policies: {} },
  { name: "one empty", policies: { custom: custom("a") } },
  { name: "three empty", policies: { custom: custom("a", "b", "c") } },
  { name: "csrf, built in", policies: { csrf: { additionalOrigins: [own] } } },
  {
    name: "csrf, public interface",
    policies: { custom: [{ use: "./policies/csrf.ts", with: { additionalOrigins: [own] } }] },
  },
  {
    name: "requestHeaderModifier, built in",
    policies: { requestHeaderModifier: { set: { "x-a": "1" }, remove: ["x-b"] } },
  },
  {
    name: "requestHeaderModifier, public interface",
    policies: { custom: [{ use: "./policies/headers.ts", with: changes }] },
  },
];

const ROUNDS = 101;
/** Rounds until V8 has compiled what runs. */
const WARM_UP = 10;

/**
 * Measures routes of built gateways with empty policies, and with policies that are built in and on the public interface. Each
 * gateway has a thread, because a policy makes the objects of the language immutable. The threads take turns, so that load of
 * the machine meets all of them.
 */
export async function measurePolicies(): Promise<readonly PolicyCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "gwc-policies-"));
  const threads = await Promise.all(
    CASES.map(async ({ name, policies }, index) => ({
      name,
      worker: new Worker(new URL("custom-policies-thread.ts", import.meta.url), {
        workerData: await built(policies, join(folder, `${index}.mjs`)),
      }),
      rounds: [] as number[],
    })),
  );
  try {
    for (let round = 0; round < WARM_UP + ROUNDS; round++)
      for (const { worker, rounds } of threads) {
        worker.postMessage("round");
        const [nanoseconds]: readonly unknown[] = await once(worker, "message");
        if (round >= WARM_UP) rounds.push(Number(nanoseconds));
      }
  } finally {
    for (const { worker } of threads) await worker.terminate();
    rmSync(folder, { recursive: true });
  }
  const [base, ...others] = threads;
  return others.map(({ name, rounds }) => {
    const added = rounds.map((each, round) => each - (base?.rounds[round] ?? 0));
    const [from, nanoseconds, to] = [0.25, 0.5, 0.75].map((part) => quantile(added, part));
    return { name, nanoseconds: nanoseconds ?? 0, from: from ?? 0, to: to ?? 0 };
  });
}

async function built(policies: object, file: string): Promise<string> {
  const directResponse = { status: 200, body: "x" };
  const routes = [{ policies: { ...policies, directResponse } }];
  const config = { binds: [{ port: 1, listeners: [{ name: "web", routes }] }] };
  const host = memoryHost({ "gateway.yaml": JSON.stringify(config), ...MODULES });
  const { bundle } = await compileFile("gateway.yaml", { name: "measured", host });
  writeFileSync(file, bundle.text);
  return file;
}
