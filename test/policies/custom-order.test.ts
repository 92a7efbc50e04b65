import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { programDiff } from "../../compiler/inspect/diff/program-diff.ts";
import { diffReport } from "../../compiler/inspect/diff/report/diff-report.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { startUpstream } from "../harness/upstream.ts";

const files = {
  "policies/move.ts": `import { definePolicy } from "gwc/policy";

/** Takes the credential from a header of its own. */
export default definePolicy({
  request(request) {
    const token = request.headers.get("x-token");
    if (token !== null) request.headers.set("authorization", "Bearer " + token);
  },
});
`,
  "policies/stop.ts": `import { definePolicy } from "gwc/policy";

/** Refuses everything that reaches it. */
export default definePolicy({
  options: { status: { type: "integer", default: 451 } },
  request: (request, { status }) => request.refuse(status, "stopped"),
});
`,
  "policies/name.ts": `import { definePolicy } from "gwc/policy";

export default definePolicy({
  provides: { name: "string" },
  request: (request) => ({ name: request.headers.get("x-name") ?? "" }),
});
`,
};

const move = { use: "./policies/move.ts" };
const stop = { use: "./policies/stop.ts" };
const name = { use: "./policies/name.ts" };
const apiKey = {
  keys: [{ keyHash: `sha256:${createHash("sha256").update("secret").digest("hex")}` }],
};
const cors = { allowOrigins: ["https://app.example.com"] };
const preflight = { origin: "https://app.example.com", "access-control-request-method": "GET" };

const RULES = { rules: ['custom.nmae == "ann"'] };
const SET = { request: { set: { "x-name": "custom.nmae" } } };

let gateway: Gateway;
let guarded: Gateway;

beforeAll(async () => {
  const url = await startUpstream((_request, response) => response.end("served"));
  const backends = [{ host: new URL(url).host }];
  const route = (path: string, policies: object) => ({
    ...{ name: path, matches: [{ path: { pathPrefix: `/${path}` } }], policies, backends },
  });
  const authorization = { rules: ['request.headers["x-name"] == "ann"'] };
  gateway = await startGateway({
    files,
    listeners: [
      {
        routes: [
          route("moved", { apiKey, custom: [{ ...move, before: "apiKey" }] }),
          route("usual", { apiKey, custom: [move] }),
          route("last", { authorization, custom: [{ ...stop, after: "authorization" }] }),
          route("first", { cors, custom: [{ ...stop, before: "cors" }] }),
          route("both", {
            ...{ cors, authorization: { rules: ['custom.name == "ann"'] } },
            custom: [name, { ...stop, after: "authorization" }],
          }),
          route("listed", {
            authorization,
            custom: [
              { ...stop, after: "authorization", with: { status: 410 } },
              { ...stop, after: "authorization", with: { status: 411 } },
            ],
          }),
        ],
      },
    ],
  });
  guarded = await startGateway({
    files,
    listeners: [
      {
        policies: { authorization, custom: [{ ...stop, after: "authorization" }] },
        routes: [route("any", {})],
      },
    ],
  });
});

const status = async (path: string, headers: Record<string, string>, method = "GET") =>
  (await send(`${gateway.url}/${path}`, method, headers)).status;

describe("a custom policy", () => {
  it("that runs before authentication can supply the credential", async () => {
    expect(await status("moved", { "x-token": "secret" })).toBe(200);
    expect(await status("moved", { "x-token": "other" })).toBe(401);
    expect(await status("usual", { "x-token": "secret" })).toBe(401);
  });

  it("that runs after authorization sees only what rules allow", async () => {
    expect(await status("last", { "x-name": "bob" })).toBe(403);
    expect(await status("last", { "x-name": "ann" })).toBe(451);
  });

  it("that runs before cors decides on preflights", async () => {
    expect(await status("first", preflight, "OPTIONS")).toBe(451);
  });

  it("runs at its usual place next to one that does not", async () => {
    expect(await status("both", { "x-name": "bob" })).toBe(403);
    expect(await status("both", { "x-name": "ann" })).toBe(451);
    expect(await status("both", preflight, "OPTIONS")).toBe(200);
  });

  it("runs in the order of the list among those of the same place", async () => {
    expect(await status("listed", { "x-name": "ann" })).toBe(410);
  });

  it("has a place among the policies of a listener", async () => {
    const sent = (value: string) => send(`${guarded.url}/any`, "GET", { "x-name": value });
    expect((await sent("bob")).status).toBe(403);
    expect((await sent("ann")).status).toBe(451);
  });
});

function checked(policies: object, listener: object = {}) {
  const route = { policies, backends: [{ host: "127.0.0.1:1" }] };
  const listeners = [{ name: "web", policies: listener, routes: [route] }];
  const config = { binds: [{ port: 3000, listeners }] };
  return checkInput(
    ["gateway.yaml"],
    memoryHost({ "gateway.yaml": JSON.stringify(config), ...files }),
    false,
  );
}

describe("the check", () => {
  const codes = (policies: object, listener?: object) =>
    checked(policies, listener).findings.map(({ code }) => code);

  it.each(["nothing", "retry", "mcpAuthorization", "custom"])(
    "refuses what is no step of a request: %s",
    (after) => {
      expect(codes({ custom: [{ ...stop, after }] })).toEqual(["unknown-place"]);
    },
  );

  it("refuses an order that listener and route cannot keep", () => {
    expect(codes({ custom: [{ ...stop, before: "csrf" }] }, { csrf: {} })).toEqual([
      "impossible-place",
    ]);
    expect(codes({ csrf: {} }, { custom: [{ ...stop, after: "csrf" }] })).toEqual([
      "impossible-place",
    ]);
    expect(codes({ custom: [{ ...stop, after: "csrf" }] }, { csrf: {} })).toEqual([]);
  });

  it("warns of a place next to a policy that is not configured", () => {
    expect(codes({ custom: [{ ...stop, after: "csrf" }] })).toEqual(["place-without-policy"]);
  });

  it("refuses two places", () => {
    expect(codes({ cors, custom: [{ ...stop, before: "cors", after: "cors" }] })).toEqual([
      "wrong-choice",
    ]);
  });

  it("refuses rules on values that are provided later", () => {
    const authorization = { rules: ['custom.name == "ann"'] };
    expect(codes({ authorization, custom: [{ ...name, after: "authorization" }] })).toEqual([
      "too-early",
    ]);
  });

  it("warns of rules on values that no policy provides", () => {
    const authorization = { rules: ['custom.nmae == "ann"'] };
    const [found] = checked({ authorization, custom: [name] }).findings;
    expect([found?.code, found?.hint]).toEqual([
      "unknown-identity-field",
      'did you mean "custom.name"?',
    ]);
  });

  it.each([
    ["a route without such a policy", {}, { authorization: { rules: ["has(custom.nmae)"] } }, {}],
    ["a policy of the listener", { custom: [name] }, { authorization: RULES }, {}],
    ["a backend", {}, { custom: [name] }, { transformations: SET }],
  ])("warns of values that no policy provides: %s", (_, listener, route, backend) => {
    const backends = [{ host: "127.0.0.1:9", policies: backend }];
    const routes = [{ policies: route, backends }];
    const listeners = [{ policies: listener, routes }];
    expect(unknown({ binds: [{ port: 3000, listeners }] })).toEqual(["custom.nmae"]);
  });

  it("knows the values of policies of the listener", () => {
    const authorization = { rules: ['custom.name == "ann"'] };
    const routes = [{ policies: { authorization }, backends: [{ host: "127.0.0.1:9" }] }];
    const listeners = [{ policies: { custom: [name] }, routes }];
    expect(unknown({ binds: [{ port: 3000, listeners }] })).toEqual([]);
  });

  it.each([
    ["fields of the log", { config: { logging: { fields: { add: { who: "custom.nmae" } } } } }],
    ["a filter of the log", { config: { logging: { filter: 'custom.nmae == "x"' } } }],
    ["labels of metrics", { frontendPolicies: { metrics: { add: { who: "custom.nmae" } } } }],
  ])("warns of values that no policy provides: %s", (_, config) => {
    const routes = [{ policies: { custom: [name] }, backends: [{ host: "127.0.0.1:9" }] }];
    expect(unknown({ ...config, binds: [{ port: 3000, listeners: [{ routes }] }] })).toEqual([
      "custom.nmae",
    ]);
    const right = JSON.parse(JSON.stringify(config).replace("nmae", "name"));
    expect(unknown({ ...right, binds: [{ port: 3000, listeners: [{ routes }] }] })).toEqual([]);
  });

  it("refuses values that two policies provide at different places", () => {
    expect(codes({ cors, custom: [name, { ...name, before: "cors" }] })).toEqual([
      "provided-twice",
    ]);
  });

  it("reports policies after one that answers every request", () => {
    const directResponse = { status: 200, body: "x" };
    const config = { custom: [{ ...stop, after: "directResponse" }], directResponse };
    const route = { policies: config };
    const host = memoryHost({
      "gateway.yaml": JSON.stringify({
        binds: [{ port: 3000, listeners: [{ routes: [route] }] }],
      }),
      ...files,
    });
    const { findings } = checkInput(["gateway.yaml"], host, false);
    expect(findings.map(({ code }) => code)).toEqual(["never-reached"]);
  });
});

/** Returns the fields of variables that never exist, of a whole configuration. */
function unknown(config: object): readonly string[] {
  const host = memoryHost({ "gateway.yaml": JSON.stringify(config), ...files });
  const { findings, programs } = checkInput(["gateway.yaml"], host, false);
  expect(programs).toHaveLength(1);
  return findings
    .filter(({ code }) => code === "unknown-identity-field")
    .map(({ message }) => /^"([^"]+)"/.exec(message)?.[1] ?? message);
}

describe("gwc diff", () => {
  const difference = (before: object, after: object) => {
    const [old, now] = [checked(before), checked(after)];
    if (old.program === undefined || now.program === undefined) throw new Error("a mistake");
    const diff = programDiff(old.program, now.program);
    return diffReport("text", diff, { before: old.files, after: now.files });
  };

  it("names a policy that runs elsewhere", () => {
    const text = difference(
      { cors, custom: [name, stop] },
      { cors, custom: [name, { ...stop, before: "cors" }] },
    );
    expect(text).toContain("1 difference: 1 CHANGES");
    expect(text).toContain("stop runs before cors");
  });

  it("counts each use of a policy", () => {
    expect(difference({ custom: [stop, stop] }, { custom: [stop] })).toContain(
      "OPENS   route root (:3000 /)   custom: policy stop (2) removed",
    );
  });
});
