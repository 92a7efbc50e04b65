import { expect, it } from "vitest";
import { CachedModules } from "../../compiler/4-emit/cached-modules.ts";
import { CachedByObject } from "../../compiler/cached-results.ts";
import { CachedCheck, checkFiles } from "../../compiler/compile.ts";
import { CachedCompilation, compileFiles } from "../../compiler/controller/model/compile-files.ts";
import { Diagnostics } from "../../compiler/diagnostics/diagnostic.ts";
import { guarded } from "../../compiler/diagnostics/guarded.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { memoryHost } from "../../compiler/host.ts";
import type { RouteNode } from "../../compiler/ir/program.ts";
import type { StartupNode } from "../../compiler/ir/startup.ts";
import { statusOf } from "../../compiler/status/status.ts";
import type { PrintedModule } from "../../templates/code/print.ts";
import { freePort } from "../harness/free-port.ts";
import { startIsolated } from "../harness/isolated-gateway.ts";
import { startScripted } from "../harness/scripted.ts";
import { send } from "../harness/send.ts";
import { checkManifests, complaints } from "./manifests.ts";
import { others, tenant } from "./tenants.ts";

const api = "apiVersion: gateway.networking.k8s.io/v1";

function route(name: string, backendRefs: string, gateway = "gw"): string {
  return `{${api}, kind: HTTPRoute, metadata: {name: ${name}}, spec: {parentRefs: [{name: ${gateway}}], rules: [{matches: [{path: {value: /${name}}}], backendRefs: ${backendRefs}}]}}`;
}

it("a reference to a backend with an unbuilt filter closes its own route", async () => {
  const upstream = await startScripted((response) => response.end("served"));
  const [host, port] = upstream.host.split(":");
  const reference = (fields: string) =>
    `[{group: gwc.dev, kind: GatewayBackend, name: server${fields}}]`;
  const redirect = "{type: RequestRedirect, requestRedirect: {scheme: https}}";
  const text = [
    `{${api}, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: ${await freePort()}, protocol: HTTP}]}}`,
    `{apiVersion: gwc.dev/v1alpha1, kind: GatewayBackend, metadata: {name: server}, spec: {static: {host: ${host}, port: ${port}}}}`,
    route("good", reference("")),
    route("wrong", reference(`, filters: [${redirect}]`)),
  ].join("\n---\n");
  expect(complaints(checkManifests(text)).map((line) => line.slice(0, 34))).toEqual([
    '7 not-built-yet: "requestRedirect"',
  ]);
  const gateway = await startIsolated(text);
  const ask = async (path: string) => (await send(`${gateway.url}${path}`, "GET")).status;
  expect([await ask("/good"), await ask("/wrong")]).toEqual([200, 500]);
});

it("a Gateway without listeners and with an unbuilt field is refused by itself", () => {
  const text = [
    `{${api}, kind: Gateway, metadata: {name: gw}, spec: {gatewayClassName: gwc, defaultScope: All}}`,
    `{${api}, kind: Gateway, metadata: {name: other}, spec: {gatewayClassName: gwc, listeners: [{name: a, port: 80, protocol: HTTP}]}}`,
    route("r", "[{name: s, port: 80}]", "other"),
    "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {ports: [{port: 80}]}}",
  ].join("\n---\n");
  expect(complaints(checkManifests(text)).map((line) => line.slice(0, 32))).toEqual([
    '1 not-built-yet: "defaultScope" ',
  ]);
  const isolating = { name: "test", isStrict: false, isIsolating: true };
  const { programs } = checkFiles(["a.yaml"], memoryHost({ "a.yaml": text }), isolating);
  expect(programs.map(({ name }) => name)).toEqual(["other"]);
});

const documents = [...tenant, ...others];
const files = Object.fromEntries(
  documents.map((document, index) => [`${index}.json`, JSON.stringify(document)]),
);

/** The manifests as they are read, but for a member of one, which throws from its nth read on. */
class FaultyMember extends CachedByObject<object, object> {
  readonly #title: string;
  readonly #member: string;
  readonly #nth: number;
  hasThrown = false;

  constructor(title: string, member: string, nth: number) {
    super();
    this.#title = title;
    this.#member = member;
    this.#nth = nth;
  }

  override of(_: object, make: () => object): object {
    const read = make() as {
      manifests: { spec: object; origin: { resource: { name: string } } }[];
    };
    for (const { spec, origin } of read.manifests)
      if (origin.resource.name === this.#title) this.#breakMember(spec);
    return read;
  }

  #breakMember(spec: object): void {
    const value: unknown = Reflect.get(spec, this.#member);
    let reads = 0;
    Object.defineProperty(spec, this.#member, {
      enumerable: true,
      get: () => {
        reads += 1;
        if (reads < this.#nth) return value;
        this.hasThrown = true;
        throw new TypeError("the text of an error");
      },
    });
  }
}

const options = { name: "test", isStrict: false, isIsolating: true, isDelivered: true };
const isRoute = ({ name }: { name: string }) => name === "default/a";

/** Returns the tenant's route in a program. */
function served(checked: ReturnType<typeof checkFiles>): string | undefined {
  const listeners = checked.program?.binds.flatMap((bind) => bind.listeners) ?? [];
  return JSON.stringify(listeners.flatMap(({ routes }) => routes.filter(isRoute)));
}

const before = served(checkFiles(Object.keys(files), memoryHost(files), options));

/** Modules of routes, of which one cannot be emitted unless it is closed. */
class FaultyModules extends CachedModules {
  override of(...[name, route, context, make]: Parameters<CachedModules["of"]>): PrintedModule {
    if (name.endsWith(" routes/x.ts") && route.policies.length > 0) throw new TypeError("a text");
    return super.of(name, route, context, make);
  }
}

/** A route of another tenant. */
const x = {
  ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute", metadata: { name: "x" } },
  spec: {
    parentRefs: [{ name: "g" }],
    hostnames: ["x.example.com"],
    rules: [{ backendRefs: [{ name: "a", port: 80 }] }],
  },
};

/** A policy of that route. */
const answer = {
  ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata: { name: "answer" } },
  spec: {
    targetRefs: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", name: "x" }],
    traffic: { authorization: { action: "Deny", policy: { matchExpressions: ["true"] } } },
  },
};

it("an error thrown while the code of a route is written closes that route", () => {
  const { before, after, statusOf } = compiledWith(
    [...tenant, x, answer],
    () => new FaultyModules(),
  );
  const changed = after.filter(({ path, text }) => {
    return before.every((each) => each.path !== path || each.text !== text);
  });
  expect(changed.map(({ path }) => path)).toEqual(["routes/x.ts"]);
  expect(statusOf("HTTPRoute", "default/x")).toContain("because of a bug in gwc");
  expect(statusOf("HTTPRoute", "default/x")).not.toContain("a text");
  expect(statusOf("HTTPRoute", "default/a")).not.toContain("False");
  expect(statusOf("Gateway", "default/g")).toContain('"type":"Programmed","status":"True"');
});

/** Needs of routes at start, which code around all routes contains; that cannot be written for one with policies. */
class FaultyNeeds extends CachedByObject<RouteNode, readonly StartupNode[]> {
  override of(route: RouteNode, make: () => readonly StartupNode[]): readonly StartupNode[] {
    if (route.name === "default/x" && route.policies.length > 0) throw new TypeError("a text");
    return super.of(route, make);
  }
}

/** Parts of long tables, of which one cannot be written with a path. */
class FaultyTables extends CachedModules {
  override ofTable(...[name, part, context, make]: Parameters<CachedModules["ofTable"]>) {
    if (JSON.stringify(part).includes("/unwritable")) throw new TypeError("a text");
    return super.ofTable(name, part, context, make);
  }
}

/** Compiles manifests twice, the second time with faulty caches; returns the statuses by their objects. */
function compiledWith(manifests: readonly object[], faulty: () => CachedModules) {
  const texts = manifests.map((each) => JSON.stringify(each));
  const paths = Object.fromEntries(texts.map((text, index) => [`/${index}.json`, text]));
  const cached = new CachedCompilation();
  const { gateways: whole } = compileFiles(paths, undefined, cached);
  Object.assign(cached, { modules: faulty() });
  const { gateways, statuses } = compileFiles(paths, undefined, cached);
  const [before = [], after = []] = [whole, gateways].map(
    (each) => each.get("default/g")?.modules ?? [],
  );
  const statusOf = (kind: string, key: string) =>
    JSON.stringify(statuses.find((each) => each.kind === kind && each.key === key)?.status);
  return { before, after, statusOf };
}

it("an error thrown while the code around all routes is written closes the route that causes it", () => {
  const { before, after, statusOf } = compiledWith([...tenant, x, answer], () =>
    Object.assign(new CachedModules(), { needs: new FaultyNeeds() }),
  );
  const textOf = (modules: readonly PrintedModule[], name: string) =>
    modules.find(({ path }) => path === name)?.text;
  expect(textOf(after, "routes/a.ts")).toBe(textOf(before, "routes/a.ts"));
  expect(textOf(after, "routes/x.ts")).toContain("noBackend");
  expect(statusOf("HTTPRoute", "default/x")).toContain("because of a bug in gwc");
  expect(statusOf("HTTPRoute", "default/x")).not.toContain("a text");
  expect(statusOf("HTTPRoute", "default/a")).not.toContain("False");
  expect(statusOf("Gateway", "default/g")).toContain('"type":"Programmed","status":"True"');
});

it("an error thrown while a part of a long table is written leaves out the route that causes it", () => {
  const paths = Array.from({ length: 600 }, (_, index) => `/path-${index}`);
  const many = [...paths, "/unwritable"].map((value, index) => ({
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "HTTPRoute" },
    metadata: { name: index < 600 ? `r-${index}` : "x" },
    spec: {
      parentRefs: [{ name: "g" }],
      hostnames: [`h${index % 40}.example.com`],
      rules: [{ matches: [{ path: { value } }], backendRefs: [{ name: "a", port: 80 }] }],
    },
  }));
  const { before, after, statusOf } = compiledWith([...tenant, ...many], () => new FaultyTables());
  expect(before.some(({ path }) => path.startsWith("tables/"))).toBe(true);
  expect(after.length).toBeGreaterThan(600);
  expect(after.some(({ text }) => text.includes("/unwritable"))).toBe(false);
  expect(statusOf("HTTPRoute", "default/x")).toContain("because of a bug in gwc");
  expect(statusOf("HTTPRoute", "default/r-599")).not.toContain("False");
  expect(statusOf("Gateway", "default/g")).toContain('"type":"Programmed","status":"True"');
});

it("an access log that cannot be written is left out, which the status of its policy says", () => {
  const logging = {
    ...{ apiVersion: "gwc.dev/v1alpha1", kind: "GatewayPolicy", metadata: { name: "log" } },
    spec: {
      targetRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "g" }],
      frontend: { accessLog: { attributes: { add: [{ name: "a", expression: "request.path" }] } } },
    },
  };
  const texts = [...tenant, logging].map((each) => JSON.stringify(each));
  const paths = Object.fromEntries(texts.map((text, index) => [`/${index}.json`, text]));
  const checked = checkFiles(Object.keys(paths), memoryHost(paths), {
    ...options,
    unwritable: ({ accessLog, deployment }) => {
      const found = new Diagnostics();
      if (accessLog !== undefined && deployment !== undefined)
        guarded(deployment.origin, found, () => {
          throw new TypeError("a text");
        });
      return found.list;
    },
  });
  expect(checked.program?.accessLog).toBeUndefined();
  expect(served(checked)).toContain("default/a");
  expect(served(checked)).not.toContain("isRefused");
  const all = checked.kubernetes === undefined ? [] : statusOf(checked, checked.kubernetes);
  const statusAt = (kind: string, name: string) =>
    JSON.stringify(all.find((each) => each.kind === kind && each.metadata.name === name)?.status);
  expect(statusAt("GatewayPolicy", "log")).toContain("because of a bug in gwc");
  expect(statusAt("Gateway", "g")).toContain('"type":"Programmed","status":"True"');
});

const members = others.flatMap(({ kind, metadata, spec = {} }) => {
  const title = `${kind} ${metadata.namespace ?? "default"}/${metadata.name}`;
  // Isolation itself asks what a policy is about.
  const names = Object.keys(spec).filter((name) => name !== "targetRefs");
  return names.map((member) => [title, member] as const);
});

it.each(members)(
  "an error thrown at %s, %s, is reported, and all else is compiled",
  (title, member) => {
    expect(before).toContain("default/a");
    // Its first reads are in different parts of the compiler.
    for (const nth of [1, 3]) {
      const faulty = new FaultyMember(title, member, nth);
      const cached = new CachedCheck();
      Object.assign(cached.input.manifests, { documents: faulty });
      const checked = checkFiles(Object.keys(files), memoryHost(files), options, cached);
      if (!faulty.hasThrown) continue;
      const found = checked.diagnostics.filter(({ code }) => code === "internal-error");
      expect(found.length).toBeGreaterThan(0);
      for (const { code, params, at } of found) {
        expect(at.resource?.name).toMatch(/^[A-Z]\w+ (default|other)\/(?!a$)/);
        const text = messageOf(code).text(params as never);
        expect(text).toContain(`cannot compile "${at.resource?.name}" because of a bug in gwc`);
        expect(text).not.toContain("the text of an error");
      }
      expect(served(checked)).toEqual(before);
    }
  },
);

it("in a file an error is reported at its path, and the other mistakes with it", () => {
  const text = `
binds:
- port: 8080
  listeners:
  - routes:
    - matches: [{path: {exact: /a}}]
      policies:
        jwtAuth: {issuer: https://a.example, audiences: [a], jwks: {file: keys.json}}
      backends: [{host: "a.example:80"}]
    - matches: [{path: {exact: /b}}]
      policies: {csrf: {origins: [x]}}
`;
  const host = memoryHost({ "gateway.yaml": text });
  const { diagnostics, programs } = checkFiles(
    ["gateway.yaml"],
    {
      ...host,
      readText: (file) => {
        if (file.endsWith("keys.json")) throw new RangeError("keys.json");
        return host.readText(file);
      },
    },
    { name: "test", isStrict: false },
  );
  expect(programs).toEqual([]);
  const texts = diagnostics.map(({ code, params }) => messageOf(code).text(params as never));
  expect(texts[0]).toBe('csrf has no field "origins"');
  expect(texts.at(-1)).toContain(
    'cannot compile "binds[0].listeners[0].routes[0].policies.jwtAuth" because of a bug in gwc: RangeError',
  );
});
