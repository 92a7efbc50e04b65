import { readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { emitModules } from "../../compiler/3-emit/modules.ts";
import { root } from "../support/build.ts";
import { checkManifests, complaints } from "./manifests.ts";

/** Everything that a build makes of documents, in files as given. */
function outputOf(files: Readonly<Record<string, string>>): unknown {
  const { programs, files: sources, ...checked } = checkManifests(files);
  expect(programs, complaints({ programs, files: sources, ...checked }).join("\n")).not.toEqual([]);
  return programs.map((program) => ({
    modules: emitModules(program, "path", sources),
    // What is in a file is written down; in which file it is must not matter to the modules.
    inputs: program.inputs,
  }));
}

const policies = `
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: second, namespace: agents}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: tools}]
  traffic:
    cors: {allowOrigins: ["https://other.example.com"]}
    authorization: {policy: {matchExpressions: ['request.path != "/x"']}}
---
apiVersion: gwc.dev/v1alpha1
kind: GatewayPolicy
metadata: {name: first, namespace: agents}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: tools}]
  traffic:
    authorization: {action: Deny, policy: {matchExpressions: ['request.path == "/y"']}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: again, namespace: agents}
spec:
  parentRefs: [{name: tools}]
  rules:
    - {matches: [{path: {value: /a}}], backendRefs: [{name: reports, port: 3002}]}
    - {matches: [{path: {value: /b}}], backendRefs: [{name: reports, port: 3002}]}
`;

describe.each(["cluster-basic", "cluster-mcp"])("the documents of %s", (example) => {
  const text = readFileSync(path.join(root, "examples", example, "gateway.yaml"), "utf8");
  const more = example === "cluster-mcp" ? [policies] : [];
  const documents = [text, ...more].join("\n---\n").split(/^---$/m);
  const expected = outputOf({ "all.yaml": documents.join("\n---\n") });

  it("mean the same in any order", () => {
    const anyOrder = fc.shuffledSubarray(documents, {
      minLength: documents.length,
      maxLength: documents.length,
    });
    fc.assert(
      fc.property(anyOrder, (shuffled) => {
        expect(outputOf({ "all.yaml": shuffled.join("\n---\n") })).toEqual(expected);
      }),
      { numRuns: 12 },
    );
  });

  it("mean the same as a list, as kubectl prints it", () => {
    const indented = documents.map((document) =>
      document.replace(/^#.*$/gm, "").trim().replace(/^/gm, "    ").replace(/^ {4}/, "  - "),
    );
    const list = `apiVersion: v1\nkind: List\nitems:\n${indented.join("\n")}\n`;
    const modules = (output: unknown): unknown =>
      (output as readonly { readonly modules: unknown }[]).map((each) => each.modules);
    expect(modules(outputOf({ "all.yaml": list }))).toEqual(modules(expected));
  });
});
