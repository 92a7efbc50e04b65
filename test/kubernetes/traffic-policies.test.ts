import { execFileSync } from "node:child_process";
import { createServer, type IncomingMessage } from "node:http";
import { hashSync } from "bcryptjs";
import { beforeAll, describe, expect, it } from "vitest";
import { bundle } from "../harness/bundle.ts";
import { freePort } from "../harness/free-port.ts";
import { startGateway } from "../harness/gateway.ts";
import { listen } from "../harness/listen.ts";
import { send } from "../harness/send.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

let [gateway, upstream] = [0, 0];
let generated = "";
/** Requests that reached the upstream. */
const received: { url: string; headers: IncomingMessage["headers"]; body: string }[] = [];

/** Shows what reached it; `/slow` never answers, `/failing` does after two faults, mirrors are kept apart. */
async function startUpstream(): Promise<number> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const { url = "", headers } = request;
      received.push({ url, headers, body });
      if (url.startsWith("/slow")) return;
      const attempt = Number(headers["x-retry-attempt"] ?? 0);
      if (url.startsWith("/failing") && attempt < 2) response.statusCode = 502;
      response.end(JSON.stringify({ url, headers }));
    });
  });
  return listen(server);
}

const rules: Readonly<Record<string, { readonly rule?: string; readonly traffic?: string }>> = {
  delayed: { traffic: 'delay: {duration: \'request.headers["x-chaos"] == "1" ? 300 : 0\'}' },
  buffered: {
    traffic: "buffer: {request: {maxBytes: 4}, response: {maxBytes: 1Mi, failureMode: FailOpen}}",
  },
  answered: {
    traffic: `directResponse: {status: 403, bodyExpression: '"no " + request.path', headers: [{name: x-direct, value: request.method}]}`,
  },
  failing: { traffic: "retry: {attempts: 2, codes: [502], backoff: 1ms}" },
  "failing-rule": { rule: "retry: {attempts: 2, codes: [502]}" },
  slow: { traffic: "timeouts: {request: 150ms}" },
  "slow-rule": { rule: "timeouts: {request: 150ms}" },
  "slow-attempt": { rule: "timeouts: {request: 10s, backendRequest: 150ms}" },
  csrf: { traffic: 'csrf: {additionalOrigins: ["https://tools.example.com"]}' },
  users: { traffic: "basicAuthentication: {realm: Shop, users: [USERS]}" },
  secret: { traffic: "basicAuthentication: {secretRef: {name: passwords}}" },
  keys: {
    traffic:
      "apiKeyAuthentication: {secretSelector: {matchLabels: {use: keys}}}, transformation: {request: {set: [{name: x-team, value: apiKey.team}]}}",
  },
  limited: {
    traffic:
      "rateLimit: {local: [{requests: 2, burst: 1, unit: Hours}, {requests: 100, unit: Minutes}]}",
  },
  stripped: { traffic: "apiKeyAuthentication: {secretRef: {name: more}}" },
  passed: { traffic: "apiKeyAuthentication: {secretRef: {name: more}}" },
  mirrored: {
    rule: "filters: [{type: RequestMirror, requestMirror: {backendRef: {group: gwc.dev, kind: GatewayBackend, name: copies}}}, {type: RequestMirror, requestMirror: {backendRef: {group: gwc.dev, kind: GatewayBackend, name: others}}}]",
  },
  conditional: {
    traffic:
      "transformation: {request: {set: [{name: ':path', value: '\"/changed\"'}, {name: ':authority', value: '\"changed.example.com\"'}], add: [{name: ':method', value: '\"PUT\"'}]}, response: {set: [{name: ':status', value: '202'}]}}",
  },
  branching: {
    traffic: `
      transformation: {conditional: [
        {condition: 'request.headers["x-kind"] == "a"', policy: {request: {set: [{name: x-branch, value: '"a"'}]}}},
        {policy: {request: {set: [{name: x-branch, value: '"other"'}]}}}]},
      rateLimit: {conditional: [{condition: 'request.headers["x-kind"] == "a"', policy: {local: [{requests: 1, unit: Hours}]}}]},
      directResponse: {conditional: [{condition: 'request.method == "DELETE"', policy: {status: 405, body: stays}}]}`,
  },
};

/** Rules of one route: Gateway API allows at most 16. */
const ROUTES = ["r", "s"].map((name, index) => ({
  name,
  rules: Object.keys(rules).slice(index * 16, (index + 1) * 16),
}));

function manifests(port: number): string {
  const backend = (name: string, host: string, policies = "") =>
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: ${name}}, spec: {static: {host: ${host}, port: ${upstream}}${policies}}}`;
  const ref = (name: string) =>
    `backendRefs: [{group: gwc.dev, kind: GatewayBackend, name: ${name}}]`;
  const own = (name: string) => {
    const { rule } = rules[name] ?? {};
    return `{name: ${name}, matches: [{path: {value: /${name}}}], ${rule === undefined ? "" : `${rule}, `}${ref(name === "passed" ? "passing" : "one")}}`;
  };
  const service = (name: string) =>
    `{name: ${name}, matches: [{path: {value: /${name}}}], backendRefs: [{name: ${name}, port: 80}]}`;
  const hashes = [
    `ann:${execFileSync(program("openssl"), ["passwd", "-apr1", "password"]).toString().trim()}`,
    `bob:${hashSync("password", 4)}`,
    "cat:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=",
    "dan:abJnggxhB/yWI",
  ].map((each) => JSON.stringify(each));
  const policies = Object.entries(rules).flatMap(([name, { traffic }]) =>
    traffic === undefined
      ? []
      : [
          `{apiVersion: gwc.dev/v1alpha1, kind: GatewayPolicy, metadata: {name: ${name}}, spec: {targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: ${ROUTES.find((route) => route.rules.includes(name))?.name}, sectionName: ${name}}], traffic: {${traffic.replace("USERS", hashes.join(", "))}}}}`,
        ],
  );
  return [
    `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: plain, port: ${port}, protocol: HTTP}]}}`,
    ...ROUTES.map(
      (route) =>
        `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: ${route.name}}, spec: {parentRefs: [{name: gw}], rules: [${route.rules.map(own).join(", ")}]}}`,
    ),
    `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: hosts}, spec: {parentRefs: [{name: gw}], rules: [${["cluster", "addressed", "external"].map(service).join(", ")}, {matches: [{path: {value: /named}}], ${ref("named")}}]}}`,
    ...policies,
    backend("one", "127.0.0.1"),
    backend("named", "localhost"),
    backend("copies", "127.0.0.1"),
    backend("others", "127.0.0.1"),
    backend("passing", "127.0.0.1", ", policies: {auth: {passthrough: {}}}"),
    "{apiVersion: v1, kind: Service, metadata: {name: cluster}, spec: {ports: [{port: 80}]}}",
    "{apiVersion: v1, kind: Service, metadata: {name: addressed}, spec: {ports: [{name: main, port: 80}]}}",
    `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: s, labels: {kubernetes.io/service-name: addressed}}, addressType: IPv4, endpoints: [{addresses: [127.0.0.1]}], ports: [{name: main, port: ${upstream}}]}`,
    `{apiVersion: v1, kind: Service, metadata: {name: external}, spec: {type: ExternalName, externalName: localhost, ports: [{port: ${upstream}}]}}`,
    "{apiVersion: v1, kind: Secret, metadata: {name: passwords}, data: {.htaccess: ''}}",
    "{apiVersion: v1, kind: Secret, metadata: {name: some, labels: {use: keys}}, data: {alice: ''}}",
    "{apiVersion: v1, kind: Secret, metadata: {name: more, labels: {use: keys}}, data: {bob: ''}}",
  ]
    .join("\n---\n")
    .replace("name: external, port: 80", `name: external, port: ${upstream}`);
}

beforeAll(async () => {
  upstream = await startUpstream();
  gateway = await freePort();
  const config = manifests(gateway);
  const files = await bundle({ config });
  const modules = files.filter((file) => file.path.startsWith("routes/"));
  generated = modules.find(({ text }) => text.includes("cluster.default.svc"))?.text ?? "";
  const secrets: Readonly<Record<string, string>> = {
    "passwords/.htaccess": `eve:${hashSync("password", 4)}\n`,
    "some/alice": "alices-key",
    "more/bob": JSON.stringify({ key: "bobs-key", metadata: { team: "b" } }),
  };
  await startGateway({ config, env: { GWC_SECRETS_DIR: temporaryFolder(secrets) } });
});

function ask(target: string, headers: Record<string, string> = {}, method = "GET", body?: string) {
  return send(`http://127.0.0.1:${gateway}${target}`, method, headers, body);
}

const login = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});

describe("the Host that a backend sees", () => {
  const host = "shop.example.com";
  const seen = async (target: string) =>
    JSON.parse((await ask(target, { host })).body).headers.host;

  it("is the client's for a Service, and the backend's own where it has a name", async () => {
    expect(await seen("/addressed")).toBe(host);
    expect(await seen("/external")).toBe(`localhost:${upstream}`);
    expect(await seen("/named")).toBe(`localhost:${upstream}`);
    expect(await seen("/failing")).toBe(host);
  });

  it("is the client's for a Service that cluster DNS finds, although that has a name", () => {
    expect(generated).toContain("keepsHost: true");
  });
});

it.each(["failing", "failing-rule"])(
  "%s: retries send the body again, and count",
  async (route) => {
    const { status, body } = await ask(`/${route}`, {}, "POST", "body");
    expect([status, JSON.parse(body).headers["x-retry-attempt"]]).toEqual([200, "2"]);
    const attempts = received.filter(({ url }) => url === `/${route}`).slice(-3);
    expect(attempts.map((each) => each.body)).toEqual(["body", "body", "body"]);
  },
);

it.each(["slow", "slow-rule", "slow-attempt"])("%s: a timeout is a 504", async (route) => {
  expect((await ask(`/${route}`)).status).toBe(504);
});

it("requests of other sites are refused, as the specification lists them", async () => {
  const post = async (headers: Record<string, string>) =>
    (await ask("/csrf", { host: "shop.example.com", ...headers }, "POST")).status;
  expect(await post({})).toBe(200);
  expect(await post({ origin: "https://shop.example.com" })).toBe(200);
  expect(await post({ origin: "https://evil.example.com" })).toBe(403);
  expect(await post({ origin: "https://tools.example.com" })).toBe(200);
  expect(await post({ "sec-fetch-site": "same-origin" })).toBe(200);
  expect(await post({ "sec-fetch-site": "cross-site" })).toBe(403);
  expect((await ask("/csrf", { "sec-fetch-site": "cross-site" })).status).toBe(200);
});

describe("logins", () => {
  it.each(["ann", "bob", "cat", "dan"])(
    "of %s are checked by the hash of the user",
    async (user) => {
      const good = await ask("/users", login(user, "password"));
      expect(good.status).toBe(200);
      expect(JSON.parse(good.body).headers).not.toHaveProperty("authorization");
      const wrong = await ask("/users", login(user, "passwor"));
      expect(wrong.status).toBe(401);
      expect(wrong.headers["www-authenticate"]).toContain('realm="Shop"');
    },
  );

  it("come from the .htaccess of a Secret", async () => {
    expect((await ask("/secret", login("eve", "password"))).status).toBe(200);
    expect((await ask("/secret", login("ann", "password"))).status).toBe(401);
    expect((await ask("/secret")).headers["www-authenticate"]).toContain('realm="Restricted"');
  });
});

describe("API keys", () => {
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  it("are those of every Secret that is selected, with their metadata", async () => {
    const team = async (key: string) =>
      JSON.parse((await ask("/keys", bearer(key))).body).headers["x-team"];
    expect(await team("bobs-key")).toBe("b");
    expect(await team("alices-key")).toBeUndefined();
    expect((await ask("/keys", bearer("other"))).status).toBe(401);
    expect((await ask("/keys", bearer('{"key":"bobs-key"}'))).status).toBe(401);
  });

  it("stay with the gateway, unless the backend is to see them", async () => {
    const seen = async (route: string) =>
      JSON.parse((await ask(route, bearer("bobs-key"))).body).headers.authorization;
    expect(await seen("/stripped")).toBeUndefined();
    expect(await seen("/passed")).toBe("Bearer bobs-key");
  });
});

it("several limits hold at once, with their burst, and say what is left", async () => {
  const responses = [];
  for (let count = 0; count < 4; count++) responses.push(await ask("/limited"));
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  const headers = responses[3]?.headers ?? {};
  expect(headers).toMatchObject({ "x-ratelimit-limit": "3", "x-ratelimit-remaining": "0" });
  expect(Number(headers["x-ratelimit-reset"])).toBeGreaterThan(0);
  expect(Number(headers["retry-after"])).toBeGreaterThan(0);
});

it("a rule may have several mirrors, and each gets the body", async () => {
  const before = received.length;
  expect((await ask("/mirrored", {}, "POST", "copied")).status).toBe(200);
  await expect
    .poll(() => received.slice(before).map(({ body }) => body))
    .toEqual(["copied", "copied", "copied"]);
});

it("pseudo headers are method, path and authority of the request, and the status", async () => {
  const { status, body } = await ask("/conditional");
  expect([status, JSON.parse(body)]).toMatchObject([
    202,
    { url: "/changed", headers: { host: "changed.example.com" } },
  ]);
});

it("of several forms of a policy the first acts whose condition is true, or the one without", async () => {
  const branch = async (kind: string) => {
    const { status, body } = await ask("/branching", { "x-kind": kind });
    return status === 200 ? JSON.parse(body).headers["x-branch"] : status;
  };
  expect(await branch("a")).toBe("a");
  expect(await branch("a")).toBe(429);
  expect([await branch("b"), await branch("b")]).toEqual(["other", "other"]);
  expect(await ask("/branching", {}, "DELETE")).toMatchObject({ status: 405, body: "stays" });
});

it("delays requests, buffers bodies, and answers with values of expressions", async () => {
  const started = performance.now();
  await ask("/delayed", { "x-chaos": "1" });
  expect(performance.now() - started).toBeGreaterThanOrEqual(299);
  expect((await ask("/buffered", {}, "POST", "four")).status).toBe(200);
  expect((await ask("/buffered", {}, "POST", "three")).status).toBe(413);
  const answered = await ask("/answered");
  expect(answered).toMatchObject({ status: 403, body: "no /answered" });
  expect(answered.headers).toMatchObject({
    "x-direct": "GET",
    "content-type": "text/plain; charset=utf-8",
  });
});
