import { beforeAll, expect, it } from "vitest";
import type { Gateway } from "../harness/gateway.ts";
import { type Scripted, startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { findings } from "../policies/refused.ts";
import { nowhere, startRoutes } from "../policies/routes.ts";

let gateway: Gateway;
let upstreams: Scripted[];

beforeAll(async () => {
  upstreams = await Promise.all(
    ["a", "b", "c"].map((name) => startScripted((response) => response.end(name))),
  );
  const backends = (...weights: (number | undefined)[]) =>
    weights.map((weight, index) => ({
      host: upstreams[index]?.host,
      ...(weight === undefined ? {} : { weight }),
    }));
  gateway = await startRoutes(
    {
      shared: { policies: {}, backends: backends(3, undefined, 0) },
      alone: { policies: {}, backends: backends(0, 5, 0) },
      nobody: {
        policies: {
          timeout: { requestTimeout: "60s" },
          retry: { attempts: 2, codes: [500] },
          responseHeaderModifier: { set: { "x-kept": "1" } },
        },
        backends: backends(0, 0),
      },
    },
    nowhere,
  );
});

async function counts(route: string, requests: number): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let count = 0; count < requests; count++) {
    const { body } = await send(`${gateway.url}/${route}`, "GET");
    found[body] = (found[body] ?? 0) + 1;
  }
  return found;
}

it("backends share the requests by weight, 1 unless given", async () => {
  const { a = 0, b = 0, c = 0 } = await counts("shared", 400);
  expect(c).toBe(0);
  // 300 expected, standard deviation 8.7: outside six of them once in 500 million runs.
  expect(a).toBeGreaterThan(247);
  expect(a).toBeLessThan(353);
  expect(a + b).toBe(400);
});

it("one backend with a weight takes all", async () => {
  expect(await counts("alone", 20)).toEqual({ b: 20 });
});

it("without any weight a request is answered 500, with what policies add", async () => {
  const { status, headers, body } = await send(`${gateway.url}/nobody`, "GET");
  expect({ status, kept: headers["x-kept"], body }).toEqual({
    status: 500,
    kept: "1",
    body: "no backend",
  });
});

it("shares without a sum are reported", () => {
  const host = "127.0.0.1:1";
  expect(findings({ policies: {}, backends: [{ host, weight: 0 }] })).toEqual(["no-weight"]);
});
