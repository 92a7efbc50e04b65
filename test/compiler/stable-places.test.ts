import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { readDocuments } from "../../compiler/1-parse/documents.ts";
import { checkFiles } from "../../compiler/compile.ts";
import { Diagnostics } from "../../compiler/diagnostics/diagnostic.ts";
import { PlaceNames } from "../../compiler/diagnostics/place-names.ts";
import { memoryHost } from "../../compiler/host.ts";
import { originOfLine } from "../../compiler/inspect/explain/generated-line.ts";
import { compileFile } from "../harness/compile-file.ts";
import { root } from "../harness/root.ts";
import { reviewedFiles } from "./example-files.ts";

type Files = ReadonlyMap<string, string>;
type Route = Readonly<Record<string, unknown>>;

/** The files to review of a configuration. */
async function built(text: string, files: Readonly<Record<string, string>> = {}): Promise<Files> {
  const host = memoryHost({ "gateway.yaml": text, ...files });
  const emitted = await compileFile("gateway.yaml", { name: "gateway", host });
  return new Map(reviewedFiles(emitted).map((file) => [file.path, file.text]));
}

/** Files that one of two builds has alone, or with another text. */
function changes(before: Files, after: Files): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}

const example = (name: string, file: string): string =>
  readFileSync(path.join(root, "examples", name, file), "utf8");

describe("a route of a file", () => {
  const config = parse(example("traffic", "gateway.yaml"));
  const routes: readonly Route[] = config.routes;
  const files = { "admins.htpasswd": example("traffic", "admins.htpasswd") };
  const build = (own: readonly Route[]) => {
    const copy = structuredClone(config);
    copy.routes = own;
    return built(stringify(copy), files);
  };
  const added = {
    name: "status",
    matches: [{ path: { exact: "/status" } }],
    policies: { directResponse: { status: 200, body: "ok" } },
  };

  it("changes its own module and the routing table when it is inserted first", async () => {
    const changed = changes(await build(routes), await build([added, ...routes]));
    expect(changed).toEqual(["main.ts", "manifest.json", "routes/status.ts"]);
  });

  it("changes no other route's module when it is removed", async () => {
    const without = routes.filter(({ name }) => name !== "maintenance");
    const changed = changes(await build(routes), await build(without));
    expect(changed).toEqual(["main.ts", "manifest.json", "routes/maintenance.ts"]);
  });

  it("changes no module when it changes places with another one", async () => {
    const names = ["partners", "admin"];
    const [first, second] = names.map((name) => routes.find((route) => route.name === name));
    const reordered = routes.map((route) => {
      if (route === first) return second ?? route;
      return route === second ? (first ?? route) : route;
    });
    expect(reordered).not.toEqual(routes);
    expect(changes(await build(routes), await build(reordered))).toEqual(["manifest.json"]);
  });

  it("is named by its path where it has no name", async () => {
    const unnamed = [{ ...routes[0], name: undefined }, ...routes.slice(1)];
    const changed = changes(await build(unnamed), await build([added, ...unnamed]));
    expect(changed).toEqual(["main.ts", "manifest.json", "routes/status.ts"]);
  });

  it("changes no other module when a listener comes before its own", async () => {
    const own = routes.map((route) => ({ ...route, gateways: "default/shop" }));
    const copy = structuredClone(config);
    copy.gateways.default.listeners.unshift({ name: "other", hostname: "other.example.com" });
    copy.routes = [{ ...added, gateways: "default/other" }, ...own];
    const changed = changes(await build(own), await built(stringify(copy), files));
    expect(changed).toEqual(["main.ts", "manifest.json", "routes/status.ts"]);
  });
});

describe("the name of a place", () => {
  const text = `
binds:
  - port: 80
    listeners:
      - name: shop
        routes: [{ name: beta }, { name: twice }, { name: "2" }, { matches: [{ path: { exact: /x } }] }]
      - hostname: a.example.com
        routes: [{ name: twice }, { name: 'a "b" [c]' }, {}]
  - port: 443
    listeners: [{ routes: [{ name: same }, { name: same }] }]
`;
  const [bind, other] = [
    ["binds", 0, "listeners"],
    ["binds", 1, "listeners"],
  ] as const;
  const found = new Diagnostics();
  const names = new PlaceNames([readDocuments("gateway.yaml", "gateway.yaml", text, found)]);
  const start = { file: "gateway.yaml", document: 0, path: [] };

  it.each([
    ["binds[80].port", ["binds", 0, "port"]],
    ["listeners[shop].policies", [...bind, 0, "policies"]],
    ["routes[beta].policies.cors", [...bind, 0, "routes", 0, "policies", "cors"]],
    ["listeners[shop].routes[twice]", [...bind, 0, "routes", 1]],
    ['routes["2"].backends[0]', [...bind, 0, "routes", 2, "backends", 0]],
    ["listeners[shop].routes[/x]", [...bind, 0, "routes", 3]],
    ["binds[80].listeners[a.example.com].routes[twice]", [...bind, 1, "routes", 0]],
    ['routes["a \\"b\\" [c]"]', [...bind, 1, "routes", 1]],
    ["binds[80].listeners[a.example.com].routes[/]", [...bind, 1, "routes", 2]],
    ["binds[443].listeners[*].routes[1]", [...other, 0, "routes", 1]],
  ] as const)("is %s, which leads back to it", (name, place) => {
    expect(names.textOf({ ...start, path: place })).toBe(`gateway.yaml ${name}`);
    expect(names.pathOf(name, start)).toEqual(place);
  });

  it("leads from a line of generated code to a line of the configuration", async () => {
    const config = example("traffic", "gateway.yaml");
    const htpasswd = example("traffic", "admins.htpasswd");
    const host = memoryHost({ "gateway.yaml": config, "admins.htpasswd": htpasswd });
    const checked = checkFiles(["gateway.yaml"], host, { name: "traffic", isStrict: false });
    const module = readFileSync(path.join(root, "out/traffic/routes/prices.ts"), "utf8");
    const line = module.split("\n").findIndex((each) => each.includes("capacity: 1200")) + 1;
    const traced = originOfLine(module, line, checked);
    expect(traced?.trace).toBe("gateway.yaml routes[prices].policies.localRateLimit[0]");
    const [, source] = traced?.at?.split(":") ?? [];
    expect(config.split("\n")[Number(source) - 1]).toContain("requests: 1000");
  });
});

describe("a route of manifests", () => {
  const text = example("cluster-mcp", "gateway.yaml");
  const documents = parseAllDocuments(text).map((each) => each.toJS());
  const build = (own: readonly unknown[]) =>
    built(own.map((each) => stringify(each)).join("---\n"));
  const rule = (name: string, value: string) => ({
    name,
    matches: [{ path: { value } }],
    backendRefs: [{ name: "reports", port: 3002 }],
  });
  const route = (name: string, rules: readonly object[]) => ({
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "HTTPRoute",
    metadata: { name, namespace: "agents" },
    spec: { parentRefs: [{ name: "tools" }], rules },
  });
  const one = route("one", [rule("first", "/a"), rule("second", "/b")]);

  it("changes its own module and the routing table when it is inserted first", async () => {
    const before = await build(documents);
    const changed = changes(before, await build([route("one", [rule("a", "/a")]), ...documents]));
    expect(changed).toEqual(["main.ts", "manifest.json", "routes/one.ts"]);
  });

  it("changes nothing else when it is removed, or changes places with another one", async () => {
    const two = route("two", [rule("c", "/c")]);
    const both = await build([...documents, one, two]);
    expect(changes(both, await build([two, one, ...documents]))).toEqual([]);
    const changed = changes(both, await build([...documents, one]));
    expect(changed).toEqual(["main.ts", "manifest.json", "routes/two.ts"]);
  });

  it("changes nothing but a new rule when the rule is inserted before the others", async () => {
    const more = route("one", [rule("zeroth", "/z"), rule("first", "/a"), rule("second", "/b")]);
    const changed = changes(await build([...documents, one]), await build([...documents, more]));
    expect(changed).toEqual(["main.ts", "manifest.json", "routes/one-zeroth.ts"]);
  });
});
