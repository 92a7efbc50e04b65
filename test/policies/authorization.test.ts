import { exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { call } from "../harness/call.ts";
import { type Echo, startEcho } from "../harness/echo.ts";
import type { Gateway } from "../harness/gateway.ts";
import { startRoutesText } from "../harness/routes-gateway.ts";
import { now, publicPart, sign } from "../harness/token.ts";

/** Rules as configured, and the callers that they admit. */
interface RuleCase {
  readonly rules: readonly (string | Readonly<Record<string, string>>)[];
  readonly admits: readonly Caller[];
}

type Caller = keyof typeof claims;

/** Callers by the claims of their token; `nobody` has none. */
const claims = {
  nobody: undefined,
  alice: { sub: "alice", roles: ["admin", "dev"], level: 5, email: "alice@corp.example" },
  bob: { sub: "bob", roles: ["dev"], level: 2, email: "bob@elsewhere.example" },
  odd: { sub: ["alice"], roles: "admin", level: "9", email: 7 },
};

const cases: Readonly<Record<string, RuleCase>> = {
  "an allow rule admits those it is true for": { rules: ['jwt.sub == "alice"'], admits: ["alice"] },
  "a rule may be spelled with if": { rules: [{ if: 'jwt.sub == "bob"' }], admits: ["bob"] },
  "a rule may be spelled with allow": { rules: [{ allow: 'jwt.sub == "bob"' }], admits: ["bob"] },
  "claims are under auth.claims too": {
    rules: [{ if: '"dev" in auth.claims.roles' }],
    admits: ["alice", "bob"],
  },
  "any allow rule is enough": {
    rules: ['jwt.sub == "alice"', 'jwt.sub == "bob"'],
    admits: ["alice", "bob"],
  },
  "a rule that nobody meets admits nobody": { rules: ['jwt.sub == "carol"'], admits: [] },
  "a deny rule wins over any allow rule": {
    rules: ["true", { deny: 'jwt.sub == "bob"' }],
    // A deny rule that can't be evaluated denies: a caller without a token has no subject to compare.
    admits: ["alice", "odd"],
  },
  "deny rules alone admit whom they do not object to": {
    rules: [{ deny: "has(jwt.sub) && jwt.level < 3" }],
    admits: ["nobody", "alice"],
  },
  "a deny rule that fails denies": { rules: [{ deny: "jwt.level > 3" }], admits: ["bob"] },
  "a require rule has to be met": {
    rules: [{ require: "jwt.level > 3" }, 'jwt.sub == "alice" || jwt.sub == "bob"'],
    admits: ["alice"],
  },
  "require rules alone admit all callers that meet them": {
    rules: [{ require: "has(jwt.sub)" }, { require: '"dev" in jwt.roles' }],
    admits: ["alice", "bob"],
  },
  "an allow rule that fails allows nothing": {
    rules: ['jwt.email.endsWith("@corp.example")'],
    admits: ["alice"],
  },
  "a missing claim matches nothing, not even by inequality": {
    rules: ['jwt.department != "sales"'],
    admits: [],
  },
  "a claim of another type is another value": {
    rules: ["jwt.level == 9", 'jwt.roles == "dev"', 'jwt.sub == ""'],
    admits: [],
  },
  "names that every object has are no claims": {
    rules: ["has(jwt.constructor)", "has(jwt.__proto__)", "has(jwt.toString)"],
    admits: [],
  },
  "a failing half of an or does not hide the other": {
    rules: ['jwt.level > 100 || request.method == "GET"'],
    admits: ["nobody", "alice", "bob", "odd"],
  },
};

const requestRules: Readonly<Record<string, string>> = {
  path: 'request.path == "/path"',
  header: 'request.headers["x-team"] == "blue"',
  host: 'request.host.startsWith("127.0.0.1:")',
  source: 'source.address == "127.0.0.1"',
};

let gateway: Gateway;
let upstream: Echo;
let key: JWK;

beforeAll(async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  key = { ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" };
  upstream = await startEcho();
  const keySet = JSON.stringify({ keys: [publicPart(key)] });
  gateway = await startRoutesText(routes(upstream), { "keys.json": keySet });
});

function routes(upstream: Echo): string {
  const route = (path: string, rules: RuleCase["rules"]) => `
- name: ${path}
  matches: [{ path: { exact: /${path} } }]
  policies:
    jwtAuth: { mode: optional, issuer: "https://issuer.example", jwks: { file: keys.json } }
    authorization: { rules: ${JSON.stringify(rules)} }
  backends: [{ host: "${new URL(upstream.url).host}" }]
`;
  return [
    ...Object.values(cases).map(({ rules }, index) => route(`case-${index}`, rules)),
    ...Object.entries(requestRules).map(([path, rule]) => route(path, [rule])),
  ].join("");
}

async function headersOf(caller: Caller): Promise<Record<string, string>> {
  const own = claims[caller];
  if (own === undefined) return {};
  const token = await sign(key, { iss: "https://issuer.example", exp: now() + 60, ...own });
  return { authorization: `Bearer ${token}` };
}

describe("authorization", () => {
  it.each(Object.keys(cases).map((name, index) => [name, index] as const))(
    "%s",
    async (name, index) => {
      const admitted: string[] = [];
      for (const caller of Object.keys(claims) as Caller[]) {
        const response = await call(`${gateway.url}/case-${index}`, await headersOf(caller));
        if (response.status === 200) admitted.push(caller);
        else expect(response).toMatchObject({ status: 403, body: "authorization failed" });
      }
      expect(admitted).toEqual(cases[name]?.admits);
    },
  );

  it("rules read the request", async () => {
    expect((await call(`${gateway.url}/path`, {})).status).toBe(200);
    expect((await call(`${gateway.url}/host`, {})).status).toBe(200);
    expect((await call(`${gateway.url}/host`, { host: "other.example" })).status).toBe(403);
    expect((await call(`${gateway.url}/source`, {})).status).toBe(200);
    expect((await call(`${gateway.url}/header`, { "X-Team": "blue" })).status).toBe(200);
    expect((await call(`${gateway.url}/header`, { "x-team": "red" })).status).toBe(403);
    expect((await call(`${gateway.url}/header`, {})).status).toBe(403);
  });

  it("a refused request is logged with its rule", async () => {
    const before = upstream.count();
    await call(`${gateway.url}/header`, {});
    expect(upstream.count()).toBe(before);
    await expect.poll(() => gateway.output).toContain("reason=Authorization");
  });
});
