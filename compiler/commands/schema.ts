import { Alias, Document, isCollection, isPair, isScalar, type Node, visit } from "yaml";
import { editorSchema, fileSchema } from "../1-parse/standalone/editor.ts";
import { suggest } from "../diagnostics/suggestion.ts";
import { testFileSchema } from "../inspect/tests/test-schema.ts";
import { YAML_OUTPUT } from "../model/yaml-output.ts";
import type { Arguments, Command, CommandResult } from "./command.ts";

/**
 * `gwc schema`: prints the JSON schema of the standalone file, of test files (`--tests`) or of a kind of manifest (`--kind`),
 * or the custom resource definitions (`--crd`).
 */
export const schema: Command = {
  minPositionals: 0,
  maxPositionals: 0,
  details:
    "Editors with the YAML language server find it through the first line of a configuration:\n" +
    "  # yaml-language-server: $schema=gateway.schema.json",
  options: [
    { name: "kind", value: "KIND", summary: "print the schema of a kind of Kubernetes manifest" },
    { name: "tests", summary: "print the schema of test files (`gwc test`)" },
    { name: "crd", summary: "print gwc's custom resource definitions as YAML" },
  ],
  examples: [
    "gwc schema > gateway.schema.json",
    "gwc schema --crd | kubectl apply --server-side -f -",
  ],
  work: printSchema,
};

async function printSchema({ options, flags }: Arguments): Promise<CommandResult> {
  if (flags.has("tests")) return { exitCode: 0, stdout: testsSchemaText() };
  if (!flags.has("crd") && options.kind === undefined)
    return { exitCode: 0, stdout: editorSchemaText() };
  if (options.kind === undefined) return { exitCode: 0, stdout: await definitionsText() };
  const { kindSchema } = await import("../1-parse/kubernetes/crd.ts");
  const found = kindSchema(options.kind);
  if (found !== undefined)
    return { exitCode: 0, stdout: `${JSON.stringify(found, undefined, 2)}\n` };
  const { kinds } = await import("../1-parse/kubernetes/kinds.ts");
  const known = kinds.map(({ kind }) => kind);
  const near = suggest(options.kind, known);
  const hint = near === undefined ? `one of: ${known.join(", ")}` : `did you mean "${near}"?`;
  return { exitCode: 2, stderr: `error: unknown kind "${options.kind}"\nhint: ${hint}\n` };
}

/** Formats the JSON schema of the standalone file. */
export function editorSchemaText(): string {
  return `${JSON.stringify(editorSchema(), undefined, 2)}\n`;
}

function testsSchemaText(): string {
  return `${JSON.stringify(fileSchema("tests", testFileSchema), undefined, 2)}\n`;
}

/**
 * Formats the custom resource definitions as YAML for `kubectl apply`. Each schema is written once: where it recurs, an alias
 * refers to it, so that a change of a shared field is one change of the file.
 */
export async function definitionsText(): Promise<string> {
  const { customResourceDefinitions } = await import("../1-parse/kubernetes/crd.ts");
  const documents = customResourceDefinitions().map((each) => {
    const document = new Document(each, { ...YAML_OUTPUT, aliasDuplicateObjects: false });
    shorten(document.contents);
    shareSchemas(document.contents);
    return document.toString({ ...YAML_OUTPUT, flowCollectionPadding: false });
  });
  return documents.join("---\n");
}

/** Longest collection, in characters, that is written on one line: most fields with their description. */
const SHORT = 320;

/** Writes short collections on one line; returns the number of characters that a node has on one. */
function shorten(node: unknown): number {
  if (isPair(node)) {
    const width = shorten(node.key) + shorten(node.value) + ": ".length;
    // Fields are below each other, unless their whole schema is on one line.
    if (isCollection(node.value) && isScalar(node.key) && node.key.value === "properties")
      node.value.flow = false;
    return width;
  }
  if (!isCollection(node)) return isScalar(node) ? String(node.value).length : 0;
  const widths = node.items.map(shorten);
  const width = widths.reduce((sum, each) => sum + each + ", ".length, 0);
  node.flow = width <= SHORT;
  return width;
}

/** Replaces each collection of several lines by an alias if an earlier one has the same contents. */
function shareSchemas(contents: Node | null): void {
  const originals = new Map<string, { readonly node: Node; readonly fields: readonly string[] }>();
  const anchors = new Set<string>();
  visit(contents, {
    Collection(_, node, trail) {
      if (node.flow === true) return visit.SKIP;
      const text = JSON.stringify(node);
      const original = originals.get(text);
      if (original === undefined) {
        originals.set(text, { node, fields: fieldsOf(trail) });
        return undefined;
      }
      const { node: first, fields } = original;
      if (isCollection(first)) first.anchor ??= anchorOf(fields, anchors);
      return isCollection(first) && first.anchor ? new Alias(first.anchor) : visit.SKIP;
    },
  });
}

/** Lists the fields above a node, from the root: the keys of its trail but those of the schema language. */
function fieldsOf(trail: readonly unknown[]): readonly string[] {
  const keys = trail.flatMap((each) =>
    isPair(each) && isScalar(each.key) ? [each.key.value] : [],
  );
  const inner = keys.at(-1) === "properties" ? ["fields"] : keys.at(-1) === "items" ? ["item"] : [];
  return [...keys.filter((key) => key !== "properties" && key !== "items"), ...inner].map(String);
}

/** Names an anchor by the fewest of the innermost fields that no other anchor has, so that names do not shift with an edit. */
function anchorOf(fields: readonly string[], anchors: Set<string>): string {
  for (let count = fields.at(-1) === "fields" ? 2 : 1; ; count++) {
    const name = fields.slice(-count).join("-");
    const free = count > fields.length ? `${name}-${count}` : name;
    if (anchors.has(free)) continue;
    anchors.add(free);
    return free;
  }
}
