import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { editorSchema } from "../../compiler/1-parse/standalone/editor.ts";
import { root } from "../harness/root.ts";

describe("the schema for editors", () => {
  const validate = new Ajv2020({
    strict: true,
    strictTypes: false,
    strictRequired: false,
    allowUnionTypes: true,
  }).compile(editorSchema());

  const files = globSync("examples/*/gateway.yaml", { cwd: root });

  // The others are Kubernetes manifests, which editors check by their CRDs.
  it.each(files.filter((file) => !file.includes("cluster-")))("accepts %s", (file) => {
    const value: unknown = parse(readFileSync(path.join(root, file), "utf8"));
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
  });

  it.each([
    ["an unknown field", "binds: [{port: 1, listners: []}]"],
    ["a field that is not built yet", "{binds: [{port: 1, listeners: [{}]}], llm: {}}"],
    ["a port out of range", "binds: [{port: 70000, listeners: [{}]}]"],
    ["a port as text", 'binds: [{port: "http", listeners: [{}]}]'],
    [
      "two fields that exclude each other",
      "binds: [{port: 1, listeners: [{routes: [{matches: [{path: {exact: /, regex: /}}]}]}]}]",
    ],
  ])("refuses %s", (_, text) => {
    expect(validate(parse(text))).toBe(false);
  });

  it("a value may be a variable, whatever its type", () => {
    const text =
      "binds: [{port: '${PORT}', listeners: [{protocol: '${PROTOCOL}', hostname: '${HOST}'}]}]";
    expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true);
  });
});
