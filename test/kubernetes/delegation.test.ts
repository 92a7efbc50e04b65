import { beforeAll, expect, it } from "vitest";
import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import { statusOf } from "../../compiler/status/status.ts";
import { type Echoed, startEcho } from "../harness/echo.ts";
import { freePort } from "../harness/free-port.ts";
import { type Gateway, startGateway } from "../harness/gateway.ts";
import { send } from "../harness/send.ts";
import { checkManifests, complaints } from "./manifests.ts";

interface Rule {
  readonly path: string;
  /** The destination of its requests: a backend, or routes by name and namespace. */
  readonly to: string | readonly [name: string, namespace: string];
  /** A header that it sets. */
  readonly sets?: readonly [name: string, value: string];
  readonly more?: object;
}

interface Route {
  readonly rules: readonly Rule[];
  readonly namespace?: string;
  /** The routes or the Gateway that it is for; none unless given. */
  readonly parents?: readonly object[];
  readonly more?: object;
  readonly labels?: Readonly<Record<string, string>>;
}

const GROUP = "gateway.networking.k8s.io";
const toGateway = [{ name: "gw" }];

function route(name: string, { rules, namespace = "default", parents, more, labels }: Route) {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: "HTTPRoute",
    metadata: { name, namespace, labels },
    spec: {
      ...(parents && { parentRefs: parents }),
      ...more,
      rules: rules.map(({ path, to, sets, more: ofRule }) => ({
        matches: [{ path: { value: path } }],
        ...(sets && {
          filters: [
            {
              type: "RequestHeaderModifier",
              requestHeaderModifier: { set: [{ name: sets[0], value: sets[1] }] },
            },
          ],
        }),
        backendRefs: [
          typeof to === "string"
            ? { group: "gwc.dev", kind: "GatewayBackend", name: to }
            : { group: GROUP, kind: "HTTPRoute", name: to[0], namespace: to[1] },
        ],
        ...ofRule,
      })),
    },
  };
}

function backend(port: number, namespace: string) {
  return {
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayBackend",
    metadata: { name: "echo", namespace },
    spec: { static: { host: "127.0.0.1", port } },
  };
}

function policy(name: string, namespace: string, target: string, traffic: object) {
  return {
    apiVersion: "gwc.dev/v1alpha1",
    kind: "GatewayPolicy",
    metadata: { name, namespace },
    spec: { targetRefs: [{ group: GROUP, kind: "HTTPRoute", name: target }], traffic },
  };
}

function manifests(port: number, ...others: readonly object[]): string {
  const gateway = {
    apiVersion: `${GROUP}/v1`,
    kind: "Gateway",
    metadata: { name: "gw" },
    spec: { gatewayClassName: "gwc", listeners: [{ name: "http", port, protocol: "HTTP" }] },
  };
  return [gateway, ...others].map((each) => JSON.stringify(each)).join("\n---\n");
}

const rules = (matchExpressions: readonly string[]) => ({
  authorization: { policy: { matchExpressions } },
});

/** A team's routes hang below one of the platform's, which says who may come at all. */
function world(port: number): readonly object[] {
  const named = [{ group: GROUP, kind: "HTTPRoute", name: "shop", namespace: "default" }];
  const elsewhere = [{ group: GROUP, kind: "HTTPRoute", name: "other", namespace: "default" }];
  return [
    route("shop", {
      parents: toGateway,
      more: { hostnames: ["shop.test"] },
      rules: [
        { path: "/team", to: ["*", "team"], sets: ["x-way", "shop"] },
        { path: "/labelled", to: ["app=shop", "team"] },
        { path: "/local", to: "echo" },
      ],
    }),
    route("other", {
      parents: toGateway,
      more: { hostnames: ["other.test"] },
      rules: [{ path: "/team", to: ["*", "team"] }],
    }),
    route("cart", {
      namespace: "team",
      rules: [
        { path: "/team/cart", to: "echo" },
        { path: "/team/own", to: "echo", sets: ["x-way", "cart"] },
      ],
    }),
    route("named", {
      namespace: "team",
      parents: named,
      rules: [{ path: "/team/named", to: "echo" }],
    }),
    route("foreign", {
      namespace: "team",
      parents: elsewhere,
      rules: [{ path: "/team/foreign", to: "echo" }],
    }),
    route("labelled", {
      namespace: "team",
      labels: { app: "shop" },
      rules: [
        { path: "/labelled/a", to: "echo" },
        { path: "/team/deep", to: ["leaf", "leaves"] },
      ],
    }),
    route("leaf", { namespace: "leaves", rules: [{ path: "/team/deep/leaf", to: "echo" }] }),
    policy("of-shop", "default", "shop", rules(['request.headers["x-user"] != "stranger"'])),
    policy("of-cart", "team", "cart", rules(['request.headers["x-user"] != "guest"'])),
    ...["default", "team", "leaves"].map((each) => backend(port, each)),
  ];
}

let gateway: Gateway;

beforeAll(async () => {
  const echo = Number(new URL((await startEcho()).url).port);
  gateway = await startGateway({ config: manifests(await freePort(), ...world(echo)) });
});

async function ask(path: string, user = "someone", host = "shop.test"): Promise<number | string> {
  const { status, body } = await send(`${gateway.url}${path}`, "GET", { host, "x-user": user });
  if (status !== 200) return status;
  const { headers, url } = JSON.parse(body) as Echoed;
  return `${url} ${headers["x-way"] ?? "-"}`;
}

it("routes answer for the routes that delegate to them: all of a namespace, those with a label, or one by its name", async () => {
  expect(await ask("/team/cart/1")).toBe("/team/cart/1 shop");
  expect(await ask("/labelled/a")).toBe("/labelled/a -");
  expect(await ask("/team/deep/leaf")).toBe("/team/deep/leaf shop");
  expect(await ask("/local")).toBe("/local -");
  // Of what is handed on nothing comes back to other rules.
  for (const path of ["/team", "/team/else", "/team/deep/else", "/labelled", "/labelled/b"])
    expect([path, await ask(path)]).toEqual([path, 404]);
  expect(await ask("/team/cart", "someone", "other.test")).toBe("/team/cart -");
  expect(await ask("/team/cart", "someone", "third.test")).toBe(404);
});

it("a route with parents answers for those alone", async () => {
  expect(await ask("/team/named")).toBe("/team/named shop");
  expect(await ask("/team/named", "someone", "other.test")).toBe(404);
  expect(await ask("/team/foreign")).toBe(404);
  expect(await ask("/team/foreign", "someone", "other.test")).toBe("/team/foreign -");
});

it("what the route says that delegates holds for its routes, whose own policies win, and rules of both are joined", async () => {
  expect(await ask("/team/own")).toBe("/team/own cart");
  expect(await ask("/team/named", "stranger")).toBe(403);
  expect(await ask("/team/deep/leaf", "stranger")).toBe(403);
  // Allowed by one of them.
  expect(await ask("/team/cart", "guest")).toBe("/team/cart shop");
});

it("reports routes without a parent, and unsupported delegation", () => {
  const delegating = (to: readonly [string, string], more: object = {}) =>
    route("shop", { parents: toGateway, rules: [{ path: "/team", to, more }] });
  const leaf = (path: string) =>
    route("leaf", { namespace: "team", rules: [{ path, to: "echo" }] });
  const said = (...others: readonly object[]) =>
    complaints(checkManifests(manifests(8080, ...others, backend(9, "team")))).map((line) =>
      line.replace(/^\d+ /, ""),
    );
  expect(said(delegating(["leaf", "team"]), leaf("/team"))).toEqual([]);
  expect(said(delegating(["lead", "team"]), leaf("/team"))).toEqual([
    expect.stringMatching(/^missing-reference: there is no HTTPRoute "team\/lead"/),
    expect.stringMatching(/^not-attached: HTTPRoute "team\/leaf" .* no route delegates to it$/),
  ]);
  expect(said(delegating(["app=none", "team"]))).toEqual([
    expect.stringMatching(/^selector-without-match/),
  ]);
  expect(said(delegating(["leaf", "team"]), leaf("/elsewhere"))).toEqual([
    expect.stringMatching(/^undelegated-route/),
  ]);
  const circle = route("leaf", {
    namespace: "team",
    rules: [{ path: "/team", to: ["shop", "default"] }],
  });
  expect(said(delegating(["leaf", "team"]), circle)).toEqual([
    expect.stringMatching(/^group-circle: .*shop.*leaf.*shop/),
  ]);
  const weight = { backendRefs: [{ group: GROUP, kind: "HTTPRoute", name: "*", weight: 2 }] };
  expect(said(delegating(["leaf", "team"], weight), leaf("/team"))).toEqual([
    expect.stringMatching(/^group-beside-others/),
    expect.stringMatching(/^not-attached/),
  ]);
  const pattern = { matches: [{ path: { type: "RegularExpression", value: "/a.*" } }] };
  expect(said(delegating(["leaf", "team"], pattern), leaf("/team"))).toEqual([
    expect.stringMatching(/^not-built-yet: "RegularExpression"/),
    expect.stringMatching(/^not-attached/),
  ]);
});

it("with a mistake in a rule or its policy, no request reaches the routes behind", () => {
  const check = (...others: readonly object[]) => {
    const text = manifests(
      8080,
      route("shop", { parents: toGateway, rules: [{ path: "/team", to: ["*", "team"] }] }),
      route("leaf", { namespace: "team", rules: [{ path: "/team/leaf", to: "echo" }] }),
      backend(9, "team"),
      ...others,
    );
    const options = { name: "test", isStrict: false, isIsolating: true };
    const checked = checkFiles(["m.yaml"], memoryHost({ "m.yaml": text }), options);
    const routes = checked.program?.binds[0]?.listeners[0]?.routes ?? [];
    const leaf = routes.find(({ name }) => name === "team/leaf");
    const weights = leaf?.backends.map((each) => ("weight" in each ? each.weight : undefined));
    return { checked, weights, policies: leaf?.policies };
  };
  expect(check().weights).toEqual([1]);
  const broken = policy("of-shop", "default", "shop", { timeouts: { request: "forever" } });
  expect(check(broken).weights).toEqual([0]);
  // An invalid rule allows nobody, also behind the route that has it.
  const ruled = policy("of-shop", "default", "shop", rules(["request.nothing == 1"]));
  expect(check(ruled).policies).toMatchObject([
    { kind: "authorization", settings: { rules: [{ action: "allow", text: "false" }] } },
  ]);
  const { checked } = check();
  const { kubernetes } = checked;
  const text = JSON.stringify(kubernetes && statusOf(checked, kubernetes));
  expect(text).toContain('"attachedRoutes":1');
});
