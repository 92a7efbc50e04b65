import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readDocuments } from "../../compiler/1-parse/documents.ts";
import { standaloneSchema } from "../../compiler/1-parse/standalone/standalone.ts";
import { compileExpression } from "../../compiler/cel/compile.ts";
import type { CelPhase } from "../../compiler/cel/variables/variables.ts";
import { Diagnostics } from "../../compiler/diagnostics/diagnostic.ts";
import { messageOf } from "../../compiler/diagnostics/messages/index.ts";
import { FieldReference, phaseAt } from "../../compiler/editor/field-reference.ts";
import { visitScalars } from "../../compiler/editor/node-at.ts";
import { root } from "../harness/root.ts";

interface Found {
  readonly text: string;
  readonly phase: CelPhase;
}

/** Expressions of a file with the phases that their schemas give. */
function expressionsOf(file: string): readonly Found[] {
  const text = readFileSync(file, "utf8");
  const source = readDocuments(file, file, text, new Diagnostics());
  const reference = new FieldReference();
  const found: Found[] = [];
  for (const [document, { yaml }] of source.documents.entries())
    visitScalars(yaml.contents, [], ({ value }, at, part) => {
      const schema = reference.schemaOf(source, document, at);
      const phase = part === "value" && schema ? phaseAt(schema, at) : undefined;
      if (phase !== undefined) found.push({ text: String(value), phase });
    });
  return found;
}

describe("the phase that a schema gives an expression", () => {
  const files = globSync("examples/*/gateway.yaml", { cwd: root });
  const all = files.flatMap((file) => expressionsOf(path.join(root, file)));

  it("has every variable that the expressions of the examples read", () => {
    const wrong = all.flatMap(({ text, phase }) => {
      const { problems } = compileExpression(text, { phase, slot: "value" });
      const errors = problems.filter(({ code }) => messageOf(code).severity === "error");
      return errors.map(({ code }) => `${phase}: ${text}: ${code}`);
    });
    expect(wrong).toEqual([]);
  });

  it("is each of the phases but that of models somewhere in the examples", () => {
    const phases = new Set(all.map(({ phase }) => phase));
    expect([...phases].toSorted()).toEqual(["log", "mcp", "request", "response"]);
  });

  it("is that of models for the condition of a virtual model", () => {
    const schema = { form: "gateway.yaml", schema: standaloneSchema(), base: [] };
    const at = ["llm", "virtualModels", 0, "routing", "conditional", "targets", 0, "when"];
    expect(phaseAt(schema, at)).toBe("llm");
  });
});
