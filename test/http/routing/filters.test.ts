import { beforeAll, expect, it } from "vitest";
import { call } from "../../harness/call.ts";
import { eventually } from "../../harness/eventually.ts";
import { freePort } from "../../harness/free-port.ts";
import { type Gateway, startGateway } from "../../harness/gateway.ts";
import { type Scripted, startScripted } from "../../harness/scripted.ts";

// HTTPRoute filters and weights as Gateway API describes them, each rule below a path of its own.

const group = "gwc.dev";
const toBackend = (name: string, rest: object = {}) => ({
  group,
  kind: "GatewayBackend",
  name,
  ...rest,
});
const childOf = (path: string, rest: object) => ({
  matches: [{ path: { type: "PathPrefix", value: path } }],
  ...rest,
});
const sent = (...weights: readonly number[]) => ({
  backendRefs: weights.map((weight, index) => toBackend(["a", "b", "c"][index] ?? "", { weight })),
});
const redirect = (requestRedirect: object) => ({
  filters: [{ type: "RequestRedirect", requestRedirect }],
});
const rewrite = (urlRewrite: object) => ({
  ...sent(1),
  filters: [{ type: "URLRewrite", urlRewrite }],
});
const mirror = (rest: object) => ({
  ...sent(1),
  filters: [{ type: "RequestMirror", requestMirror: { backendRef: toBackend("copies"), ...rest } }],
});
const full = (path: string) => ({ type: "ReplaceFullPath", replaceFullPath: path });
const prefix = (path: string) => ({ type: "ReplacePrefixMatch", replacePrefixMatch: path });

/** Filters, what is asked, and where it is sent on. */
const redirects: readonly (readonly [object, asked: string, location: string])[] = [
  // The port of a scheme is not said; without a scheme and port it is the one that was asked.
  [{ scheme: "https" }, "shop.example:8080 /x", "https://shop.example/x"],
  [{ scheme: "https", port: 443 }, "shop.example /x", "https://shop.example/x"],
  [{ scheme: "https", port: 8443 }, "shop.example /x", "https://shop.example:8443/x"],
  [{ scheme: "http" }, "shop.example:8080 /x", "http://shop.example/x"],
  [{ port: 80 }, "shop.example:8080 /x", "http://shop.example/x"],
  [{ port: 8081 }, "shop.example /x", "http://shop.example:8081/x"],
  [{ hostname: "www.example" }, "shop.example:8080 /x?q=1", "http://www.example:8080/x?q=1"],
  [{ hostname: "www.example" }, "shop.example /x", "http://www.example/x"],
  [{ path: full("/new") }, "shop.example /x?q=1", "http://shop.example/new?q=1"],
  [{ path: prefix("/new/") }, "shop.example /x", "http://shop.example/new/x"],
  [
    { scheme: "https", hostname: "www.example", port: 444, path: full("/") },
    "shop.example:1 /x",
    "https://www.example:444/",
  ],
];
/** Filters, what is asked, and what the backend sees. */
const rewrites: readonly (readonly [object, asked: string, seen: string])[] = [
  [{ hostname: "in.example" }, "/x?q=1", "in.example BASE/x?q=1"],
  [{ path: full("/new") }, "/x/y?q=1", "shop.example:8080 /new?q=1"],
  [{ path: prefix("/new") }, "/x", "shop.example:8080 /new/x"],
  [{ path: prefix("/new") }, "", "shop.example:8080 /new"],
  [{ path: prefix("/new") }, "/", "shop.example:8080 /new/"],
  [{ path: prefix("/new/") }, "/x", "shop.example:8080 /new/x"],
  [{ path: prefix("/") }, "/x", "shop.example:8080 /x"],
  [{ path: prefix("/") }, "", "shop.example:8080 /"],
  [{ hostname: "in.example", path: prefix("/new") }, "/x%20y", "in.example /new/x%20y"],
];
const statuses = [301, 302, 303, 307, 308];

let gateway: Gateway;
let upstreams: Readonly<Record<"a" | "b" | "c" | "copies", Scripted>>;

beforeAll(async () => {
  const start = (name: string) =>
    startScripted((response, _, { url, headers }) =>
      response.end(url.startsWith("/shared") ? name : `${headers.host} ${url}`),
    );
  upstreams = {
    a: await start("a"),
    b: await start("b"),
    c: await start("c"),
    copies: await start("copies"),
  };
  gateway = await startGateway({ config: manifests(await freePort()) });
});

function manifests(port: number): string {
  const rules = [
    childOf("/shared", sent(3, 1, 0)),
    childOf("/nobody", sent(0, 0)),
    childOf("/half", mirror({ fraction: { numerator: 2, denominator: 4 } })),
    childOf("/quarter", mirror({ percent: 25 })),
    childOf("/every", mirror({ fraction: { numerator: 100 } })),
    childOf("/never", mirror({ percent: 0 })),
    ...redirects.map(([filter], index) => childOf(`/redirect${index}`, redirect(filter))),
    ...statuses.map((statusCode) =>
      childOf(`/status${statusCode}`, redirect({ scheme: "https", statusCode })),
    ),
    ...rewrites.map(([filter], index) => childOf(`/rewrite${index}`, rewrite(filter))),
  ];
  const resource = (apiVersion: string, kind: string, name: string, spec: object) =>
    JSON.stringify({ apiVersion, kind, metadata: { name }, spec });
  const standard = "gateway.networking.k8s.io/v1";
  // An HTTPRoute has at most 16 rules.
  const routes = Array.from({ length: Math.ceil(rules.length / 16) }, (_, index) =>
    resource(standard, "HTTPRoute", `r${index}`, {
      parentRefs: [{ name: "gw" }],
      rules: rules.slice(index * 16, (index + 1) * 16),
    }),
  );
  const backends = Object.entries(upstreams).map(([name, upstream]) =>
    resource(`${group}/v1alpha1`, "GatewayBackend", name, {
      static: { host: "127.0.0.1", port: Number(upstream.host.split(":")[1]) },
    }),
  );
  const listeners = [{ name: "http", port, protocol: "HTTP" }];
  const own = resource(standard, "Gateway", "gw", { gatewayClassName: "gwc", listeners });
  return [own, ...routes, ...backends].join("\n---\n");
}

async function times(count: number, path: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (let each = 0; each < count; each++) {
    const { body } = await call(`${gateway.url}${path}`, {});
    found[body] = (found[body] ?? 0) + 1;
  }
  return found;
}

it("backends share the requests by weight, and one of weight 0 gets none", async () => {
  const { a = 0, b = 0, c = 0 } = await times(400, "/shared");
  expect(c).toBe(0);
  expect(a + b).toBe(400);
  // 300 expected, standard deviation 8.7: outside six of them once in 500 million runs.
  expect(a).toBeGreaterThan(247);
  expect(a).toBeLessThan(353);
});

it("backends that are all of weight 0 are answered for with 500", async () => {
  expect((await call(`${gateway.url}/nobody`, {})).status).toBe(500);
});

it.each(redirects.map((each, index) => [index, ...each] as const))(
  "redirect %i leads on",
  async (index, _filter, asked, location) => {
    const [host = "", rest = ""] = asked.split(" ");
    const { status, headers } = await call(`${gateway.url}/redirect${index}${rest}`, { host });
    // A path that is not replaced keeps the rule's own prefix.
    const { pathname } = new URL(location);
    const isKept = pathname === "/x";
    const expected = isKept ? location.replace(/\/x/, `/redirect${index}/x`) : location;
    expect({ status, location: headers.location }).toEqual({ status: 302, location: expected });
  },
);

it("the status of a redirect is the given one", async () => {
  const found: number[] = [];
  for (const each of statuses) {
    found.push((await call(`${gateway.url}/status${each}`, { host: "a.example" })).status);
  }
  expect(found).toEqual(statuses);
});

it.each(rewrites.map((each, index) => [index, ...each] as const))(
  "rewrite %i is what the backend sees",
  async (index, _filter, asked, seen) => {
    const base = `/rewrite${index}`;
    const { body } = await call(`${gateway.url}${base}${asked}`, { host: "shop.example:8080" });
    expect(body).toBe(seen.replace("BASE", base));
  },
);

it("a part of the requests is copied", async () => {
  const copiesOf = (path: string) =>
    upstreams.copies.received.filter(({ url }) => url.startsWith(path)).length;
  await times(200, "/half");
  await times(200, "/quarter");
  await times(50, "/never");
  await times(50, "/every");
  await eventually(() => copiesOf("/every") === 50 || null, "all copies");
  // Fair coins: outside once in 10 million runs.
  const half = copiesOf("/half");
  expect(half).toBeGreaterThan(62);
  expect(half).toBeLessThan(138);
  const quarter = copiesOf("/quarter");
  expect(quarter).toBeGreaterThan(16);
  expect(quarter).toBeLessThan(84);
  expect(copiesOf("/never")).toBe(0);
});
