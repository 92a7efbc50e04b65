import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import {
  CachedCompilation,
  compileFiles,
} from "../../../compiler/controller/model/compile-files.ts";
import { root } from "../../harness/root.ts";
import { RandomSource } from "../../inspect/random-rules.ts";
import { randomManifest } from "./random-manifests.ts";

const GATEWAY_CLASS = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: { name: gwc }
spec: { controllerName: gwc.dev/gateway }
`;

/** The manifests of two examples, each by a path of its own, as the API server's objects are. */
function declared(): Record<string, string> {
  const documents = ["cluster-basic", "cluster-mcp"].flatMap((example) =>
    readFileSync(path.join(root, "examples", example, "gateway.yaml"), "utf8").split("\n---\n"),
  );
  return Object.fromEntries(
    [...documents, GATEWAY_CLASS].map((text, index) => [`/${index}`, text]),
  );
}

/** Changes of what is declared, and what they change: a text for another one, a document less, a document that is broken. */
const CHANGES: readonly (readonly [what: string, from: string | RegExp, to: string])[] = [
  ["a match of an MCP route", "value: /mcp", "value: /.well-known"],
  ["its path again", "value: /.well-known", "value: /tools"],
  ["a port", "port: 3000", "port: 3100"],
  ["a policy's origin", "https://app.example.com", "https://other.example.com"],
  ["a rule over tools", '== "get-env"', '== "get-sum"'],
  ["a host of a target", "everything.agents", "others.agents"],
  ["the port of a Service that is selected", "port: 3002", "port: 3003"],
  ["the target of a policy", /kind: HTTPRoute\n( +)name: tools/, "kind: Gateway\n$1name: tools"],
  ["a mistake in YAML", "maxAge: 600", "maxAge: [600"],
  ["its end", "maxAge: [600", "maxAge: 60"],
  ["a mistake in a rule", 'mcp.tool.name == "get-sum"', "mcp.tool.nam"],
  ["its end", "mcp.tool.nam\n", 'mcp.tool.name == "get-env"\n'],
];

describe("what one compilation leaves to the next", () => {
  it("changes nothing of what is compiled, whatever was declared before", () => {
    const cached = new CachedCompilation();
    const files = declared();
    expect(compileFiles(files, undefined, cached)).toEqual(compileFiles(files, undefined));
    for (const [what, from, to] of CHANGES) {
      const before = JSON.stringify(files);
      for (const [file, text] of Object.entries(files)) files[file] = text.replace(from, to);
      expect(JSON.stringify(files), what).not.toBe(before);
      expect(compileFiles(files, undefined, cached), what).toEqual(compileFiles(files, undefined));
    }
    for (const file of Object.keys(files)) {
      const { [file]: _, ...others } = files;
      expect(compileFiles(others, undefined, cached), file).toEqual(
        compileFiles(others, undefined),
      );
    }
  });

  it("changes nothing of routes, policies and listeners that come, go and change by chance", () => {
    const cached = new CachedCompilation();
    const random = new RandomSource(7);
    const files: Record<string, string> = {};
    let routes = 0;
    for (let step = 0; step < 60; step += 1) {
      for (let edit = 0; edit < 3; edit += 1) {
        const [file, object] = randomManifest(random);
        if (random.chance(0.1)) delete files[file];
        else files[file] = JSON.stringify(object);
      }
      const compiled = compileFiles(files, undefined, cached);
      expect(compiled, `step ${step}`).toEqual(compileFiles(files, undefined));
      const all = [...compiled.gateways.values()];
      routes += all.flatMap((each) => each.modules.slice(1)).length;
    }
    expect(routes).toBeGreaterThan(100);
  });

  it("is the module of every route that did not change", () => {
    const cached = new CachedCompilation();
    const files = declared();
    const modules = () => {
      const { gateways } = compileFiles(files, undefined, cached);
      return [...gateways.values()].flatMap((each) => each.modules);
    };
    const before = modules();
    for (const [file, text] of Object.entries(files))
      files[file] = text.replace("https://app.example.com", "https://other.example.com");
    const routes = modules().filter(({ path: module }) => module.startsWith("routes/"));
    const written = routes.filter((module) => !before.includes(module));
    expect(routes.length).toBeGreaterThan(written.length);
    expect(written.map(({ path: module }) => module)).toEqual(["routes/tools.ts"]);
  });
});
