import { describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { listenerPairs } from "../../compiler/inspect/diff/listener-pairs.ts";
import { routePairs } from "../../compiler/inspect/diff/route-pairs.ts";
import { reachedRoute } from "../../compiler/inspect/explain/request.ts";
import { RandomSource } from "./random-rules.ts";

const PAIRS = process.env.GWC_LONG_TESTS === "1" ? 300 : 12;
const HOSTS = ["a.example.com", "b.example.com", "c.other.test"];
const PATHS = ["/", "/a", "/a/b", "/a/bc", "/b", "/b/1", "/b/x", "/c.json"];

/** A route of a gateway: where it goes tells it apart. */
function randomRoute(random: RandomSource): string {
  const path = random.pick([
    ...["/", "/a", "/a/b", "/b"].map((each) => `pathPrefix: ${each}`),
    ...["/a", "/b/1"].map((each) => `exact: ${each}`),
    `regex: "/b/[0-9]+"`,
    `regex: ".*[.]json"`,
  ]);
  const method = random.chance(0.3) ? `, method: ${random.pick(["GET", "POST"])}` : "";
  const value = random.pick(["exact: dev", 'regex: "d.*"', "exact: prod"]);
  const headers = random.chance(0.3) ? `, headers: [{name: x-env, value: {${value}}}]` : "";
  const host = random.pick(["", "hostnames: [a.example.com], ", 'hostnames: ["*.example.com"], ']);
  const backend = `backends: [{host: "127.0.0.1:${1 + random.below(4)}"}]`;
  return `{${host}matches: [{path: {${path}}${method}${headers}}], ${backend}}`;
}

function gatewayWith(routes: readonly string[]) {
  const text = `binds: [{port: 80, listeners: [{routes: [${routes.join(", ")}]}]}]\n`;
  return checkInput(["g.yaml"], memoryHost({ "g.yaml": text }), false);
}

describe("where requests go before and after a change", () => {
  it("is what looking them up in both tables says, for random tables and random requests", () => {
    const missed: unknown[] = [];
    const wrong: unknown[] = [];
    let compared = 0;
    for (let seed = 1; seed <= PAIRS; seed += 1) {
      const random = new RandomSource(seed * 6_700_417);
      const routes = Array.from({ length: 2 + random.below(5) }, () => randomRoute(random));
      const edited = routes.toSpliced(
        random.below(routes.length),
        random.below(2),
        randomRoute(random),
      );
      const [before, after] = [gatewayWith(routes), gatewayWith(edited)];
      const [old, now] = [before, after].map(({ program }) => program?.binds[0]);
      if (old === undefined || now === undefined) continue;
      compared += 1;
      const [listeners] = listenerPairs(old, now);
      if (listeners === undefined) throw new Error("both have a listener for every host");
      const { pairs, undecided } = routePairs(listeners);
      expect(undecided).toEqual([]);
      const reached = (
        side: typeof before,
        method: string,
        url: URL,
        headers: Record<string, string>,
      ) => {
        const found = reachedRoute(side, method, url, headers);
        return found.kind === "route" ? JSON.stringify(found.route.backends, noPlace) : "404";
      };
      const backends = (route: (typeof pairs)[number]["before"]) =>
        route === undefined ? "404" : JSON.stringify(route.backends, noPlace);
      const found = new Set(
        pairs.map((pair) => `${backends(pair.before)} ${backends(pair.after)}`),
      );
      for (const { requests, before: from, after: to } of pairs) {
        for (const { host, path, method, headers } of requests) {
          const url = new URL(`http://${host}${path}`);
          const [a, b] = [before, after].map((side) => reached(side, method, url, { ...headers }));
          if (a !== backends(from) || b !== backends(to)) wrong.push({ seed, host, path, method });
        }
      }
      for (let count = 0; count < 150; count += 1) {
        const url = new URL(`http://${random.pick(HOSTS)}${random.pick(PATHS)}`);
        const method = random.pick(["GET", "POST", "PUT"]);
        const env = random.pick(["", "dev", "prod", "d", "x"]);
        const headers = env === "" ? {} : { "x-env": env };
        const [a, b] = [before, after].map((side) => reached(side, method, url, headers));
        if (a !== b && !found.has(`${a} ${b}`)) missed.push({ seed, url: url.href, method, env });
      }
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(missed.slice(0, 3)).toEqual([]);
    expect(compared).toBeGreaterThan(PAIRS / 4);
  });
});

function noPlace(key: string, value: unknown): unknown {
  return key === "origin" ? undefined : value;
}
