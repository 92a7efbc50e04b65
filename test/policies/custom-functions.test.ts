import { beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";

const functions = `
# Callers by their headers.
isInternal() { request.headers["x-env"] == "internal" && isRead() }
isRead() { request.method in ["GET", "HEAD"] } // used above
this.joined(first, rest...) { this + first + rest.map(p, p + "!").join("") }
twice(s) { s + s }
anyOf(list, value) { list.exists(i, i == value) }
braces(a) { {"}": a}["}"] }
team() { default(request.headers["x-team"], "none") }
`;

/** Expressions with calls, and what they mean. */
const expressions: readonly (readonly [called: string, meant: string])[] = [
  ['twice(team() + "-")', '"red-red-"'],
  ['"x".joined("y", "z", twice("w"))', '"xyz!ww!"'],
  ['"x".joined("y")', '"xy"'],
  // Variables of the caller and of the body have the same name.
  ['["q", "r"].filter(i, anyOf(["r"], i)).join(",")', '"r"'],
  ['["p"].map(p, "a".joined(p, p)).join(",")', '"app!"'],
  ["braces(twice(twice(team())))", '"redredredred"'],
  ['string(anyOf(["a"], "b") || isInternal())', '"true"'],
  ['"isRead()" + twice("request.method")', '"isRead()request.methodrequest.method"'],
];

let gateway: Gateway;
let upstream: Echo;

beforeAll(async () => {
  upstream = await startEcho();
  const headers = expressions.flatMap((pair, at) =>
    pair.map((value, side) => [`x-${side === 0 ? "called" : "meant"}-${at}`, value]),
  );
  const config = stringify({
    config: { customFunctions: functions },
    gateways: { default: { port: await freePort() } },
    routes: [
      {
        policies: {
          authorization: { rules: ["isInternal()", { deny: 'team() == "blue"' }] },
          transformations: { response: { set: Object.fromEntries(headers) } },
        },
        backends: [{ host: new URL(upstream.url).host }],
      },
    ],
  });
  gateway = await startGateway({ config });
});

describe("customFunctions", () => {
  it("decide in rules as their bodies do", async () => {
    const status = async (headers: Record<string, string>) =>
      (await call(`${gateway.url}/`, headers)).status;
    expect(await status({ "x-env": "internal" })).toBe(200);
    expect(await status({ "x-env": "other" })).toBe(403);
    expect(await status({ "x-env": "internal", "x-team": "blue" })).toBe(403);
  });

  it("have the values of their bodies with the arguments of the call", async () => {
    const { headers } = await call(`${gateway.url}/`, { "x-env": "internal", "x-team": "red" });
    for (const [at, [called]] of expressions.entries()) {
      expect([called, headers[`x-called-${at}`]]).toEqual([called, headers[`x-meant-${at}`]]);
      expect(headers[`x-called-${at}`]).toBeDefined();
    }
  });
});
