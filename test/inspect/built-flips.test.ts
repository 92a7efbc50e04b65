import { METHODS } from "node:http";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { chainOf } from "../../compiler/inspect/diff/chain.ts";
import { chainDiff } from "../../compiler/inspect/diff/chain-differences.ts";
import type { RequestData } from "../../compiler/inspect/effect/data/request-data.ts";
import type { RouteNode } from "../../compiler/ir/program.ts";
import type { Rule } from "../../compiler/model/rules.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { now, publicPart, sign } from "../harness/token.ts";
import { editedRules, RandomSource, randomRules } from "./random-rules.ts";

/** Edited rule sets, of which about each has a difference. */
const PAIRS = process.env.GWC_LONG_TESTS === "1" ? 300 : 80;

const ISSUER = "https://issuer.test";

interface Side {
  readonly config: object;
  readonly routes: readonly RouteNode[];
}

/** A gateway with a route for each set of rules, which answers 200 to whom they allow. */
async function sideOf(sets: readonly (readonly Rule[])[], jwks: string): Promise<Side> {
  const routes = sets.map((rules, index) => ({
    name: `r${index}`,
    matches: [{ path: { pathPrefix: `/r${index}` } }],
    policies: {
      jwtAuth: { mode: "optional", issuer: ISSUER, audiences: ["a"], jwks: { file: "jwks.json" } },
      ...(rules.length === 0
        ? {}
        : { authorization: { rules: rules.map(({ action, text }) => ({ [action]: text })) } }),
      directResponse: { status: 200, body: "allowed" },
    },
  }));
  const config = { binds: [{ port: await freePort(), listeners: [{ routes }] }] };
  const host = memoryHost({ "gateway.yaml": JSON.stringify(config), "jwks.json": jwks });
  const { program, findings } = checkInput(["gateway.yaml"], host, false);
  if (program === undefined) throw new Error(findings.map(({ message }) => message).join("\n"));
  return { config, routes: program.binds.flatMap(({ listeners }) => listeners[0]?.routes ?? []) };
}

/** Rules over the token, the method and headers: what a client can send to any route as it likes. */
function sendable(rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(
    ({ text }) => !/apiKey|source\.|auth\.|request\.(path|host|uri|body)/.test(text),
  );
}

interface Sent {
  readonly method: string;
  readonly headers: Record<string, string>;
}

/** Returns an example as a client's request; `undefined` if no client can send it. */
async function requestOf({ request, jwt }: RequestData, key: JWK): Promise<Sent | undefined> {
  const { method = "GET", headers = {} } = Object(request);
  const values = Object.values(headers).map(String);
  if (!values.every((value) => /^[!-~]+$/.test(value))) return undefined;
  // HTTP/1.1 is refused with other methods than Node.js knows; HTTP/2 is not.
  if (!METHODS.includes(method)) return undefined;
  if ((jwt ?? null) === null) return { method, headers };
  const claims = { ...Object(jwt), iss: ISSUER, aud: "a", exp: now() + 600 };
  const authorization = `Bearer ${await sign(key, claims, { alg: "ES256" })}`;
  return { method, headers: { ...headers, authorization } };
}

it("what gwc diff says opens or closes does so in bundles that were built of both sides", async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: "one", alg: "ES256" };
  const jwks = JSON.stringify({ keys: [publicPart(key)] });
  const pairs = Array.from({ length: PAIRS }, (_, index) => {
    const random = new RandomSource((index + 1) * 7_368_787);
    const rules = randomRules(random, "request");
    return [sendable(rules), sendable(editedRules(rules, random, "request"))] as const;
  });
  const sides = await Promise.all([
    sideOf(
      pairs.map(([before]) => before),
      jwks,
    ),
    sideOf(
      pairs.map(([, after]) => after),
      jwks,
    ),
  ]);
  const [before, after] = await Promise.all(
    sides.map(({ config }) => startGateway({ config, files: { "jwks.json": jwks } })),
  );
  const wrong: unknown[] = [];
  let executed = 0;
  for (const [index, old] of (sides[0]?.routes ?? []).entries()) {
    const route = sides[1]?.routes[index];
    if (route === undefined) throw new Error("a route is missing");
    const chains = [old, route].map(({ policies }) => chainOf(policies, undefined));
    const [from, to] = chains;
    if (from === undefined || to === undefined) throw new Error("a chain is missing");
    for (const { direction, example } of chainDiff(from, to, false).differences) {
      const sent = await requestOf(example, key);
      if (sent === undefined) continue;
      const statuses = await Promise.all(
        [before, after].map(async (gateway) => {
          const { status } = await send(`${gateway?.url}/r${index}`, sent.method, sent.headers);
          return status;
        }),
      );
      executed += 1;
      const expected = direction === "opens" ? [403, 200] : [200, 403];
      if (JSON.stringify(statuses) !== JSON.stringify(expected))
        wrong.push({ index, direction, example, statuses });
    }
  }
  expect(wrong.slice(0, 3)).toEqual([]);
  expect(executed).toBeGreaterThan(PAIRS / 2);
}, 120_000);
