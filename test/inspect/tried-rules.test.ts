import { expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import {
  decidingRule,
  itemOf,
  reachedNode,
  verdictsOf,
} from "../../compiler/inspect/tests/deciding-rule.ts";
import { listedNames } from "../../compiler/inspect/tests/expectations.ts";
import { trialRequest } from "../../compiler/inspect/tests/test-request.ts";
import type { GatewayTest } from "../../compiler/inspect/tests/test-schema.ts";
import { openTrialProgram } from "../../compiler/inspect/tests/trial-program.ts";
import { RandomSource, randomRequest, randomRules } from "./random-rules.ts";

/** Sets of rules, a route for each, and requests to each. */
const SETS = process.env.GWC_LONG_TESTS === "1" ? 300 : 40;
const REQUESTS = 8;

/** A gateway with a route to an MCP server for each set of rules. */
function configOf(): string {
  const routes = Array.from({ length: SETS }, (_, index) => {
    const rules = randomRules(new RandomSource((index + 1) * 9_176_333), "mcp");
    return {
      name: `r${index}`,
      matches: [{ path: { exact: `/r${index}` } }],
      policies: {
        jwtAuth: { mode: "optional", issuer: "https://a.test", jwks: { url: "https://a.test/k" } },
        ...(rules.length === 0
          ? {}
          : { mcpAuthorization: { rules: rules.map(({ action, text }) => ({ [action]: text })) } }),
      },
      backends: [{ mcp: { targets: [{ name: "t-a", mcp: { host: "http://127.0.0.1:9/mcp" } }] } }],
    };
  });
  return JSON.stringify({ binds: [{ port: 3000, listeners: [{ routes }] }] });
}

/** A random caller of a tool. */
function callOf(random: RandomSource): GatewayTest & { readonly tool: string } {
  const { jwt, request, mcp } = randomRequest(random, "mcp");
  const isKnown = typeof jwt === "object" && jwt !== null;
  const headers: Readonly<Record<string, unknown>> = Object(Object(request).headers);
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    /^[\w-]+$/.test(name) && /^[!-~]+$/.test(String(value)) ? [[name, String(value)]] : [],
  );
  return {
    name: "random",
    // no header can name a tool without a name
    tool: String(Object(Object(mcp).tool).name || "t-i"),
    ...(isKnown && { as: { jwt: Object.fromEntries(Object.entries(jwt)) } }),
    headers: Object.fromEntries(sent.filter(([name]) => name !== "host")),
    expect: {},
  };
}

it("compiled routes refuse what gwc can says they refuse, and list what may be called", async () => {
  const host = memoryHost({ "gateway.yaml": configOf() });
  const { program, files, findings } = checkInput(["gateway.yaml"], host, false);
  if (program === undefined) throw new Error(findings.map(({ message }) => message).join("\n"));
  const trial = await openTrialProgram(program, files);
  const wrong: unknown[] = [];
  const refused = { yes: 0, no: 0 };
  let alike = 0;
  for (const bind of program.binds) {
    const [listener] = bind.listeners;
    if (listener === undefined) throw new Error("there is no listener");
    for (const [index, route] of listener.routes.entries()) {
      const random = new RandomSource((index + 1) * 4_256_233);
      const target = { kind: "route", route, listener, bind } as const;
      for (let count = 0; count < REQUESTS; count++) {
        const test = callOf(random);
        // Opening a session takes requests of its own.
        const era = count % 5 === 0 ? "sessions" : "stateless";
        const servers = { "t-a": { tools: [test.tool, "other"] } };
        const outcome = await trial.send(trialRequest(test, target, era, servers), 1);
        // A caller's claims for somebody else are not a valid token.
        if (outcome.reason === "JwtAuth") continue;
        const reached = reachedNode(program, outcome);
        if (reached === undefined) throw new Error(`no route: ${JSON.stringify(outcome)}`);
        const verdicts = verdictsOf(test, outcome, reached, itemOf(outcome, reached, test));
        const isRefused = outcome.reason === "Authorization";
        refused[isRefused ? "yes" : "no"] += 1;
        const isSaid = verdicts.some(({ verdict }) => verdict === "refuses");
        const isOpen = verdicts.some(
          ({ verdict }) => verdict !== "passes" && verdict !== "refuses",
        );
        if (!isOpen && isSaid !== isRefused)
          wrong.push({ index, test, outcome, rule: decidingRule(verdicts)?.text });
        const { tool, ...lister } = test;
        const listing = { ...lister, list: "tools" } as const;
        const list = await trial.send(trialRequest(listing, target, era, servers), 1);
        const isCallable = outcome.reason === undefined;
        if (listedNames(list, "tools").includes(tool) === isCallable) alike += 1;
        else if (!readsMethod(route.policies))
          wrong.push({ index, tool, list: list.body, isCallable });
      }
    }
  }
  trial.close();
  expect(wrong.slice(0, 2)).toEqual([]);
  expect(refused.yes).toBeGreaterThan(SETS);
  expect(refused.no).toBeGreaterThan(SETS);
  expect(alike).toBeGreaterThan(0.9 * (refused.yes + refused.no));
}, 120_000);

/** Rules over the method tell a list from a call. */
function readsMethod(policies: object): boolean {
  return JSON.stringify(policies).includes("mcp.methodName");
}
