import { type CompletionItem, CompletionItemKind, type Range } from "vscode-languageserver";
import { type Schema, schemaAt } from "../schema/schema.ts";
import type { DocumentSchema } from "./field-reference.ts";
import type { NameUse } from "./names.ts";
import type { WrittenPosition } from "./written-position.ts";

/** Returns the declared names that a field can refer to; `names` are those of its configuration. */
export function nameCompletions(
  written: WrittenPosition,
  { schema, base }: DocumentSchema,
  names: readonly NameUse[],
  range: Range,
): readonly CompletionItem[] {
  const at = schemaAt(schema, written.path.slice(base.length));
  const all = (written.role === "key" ? at?.propertyNames : at)?.refersTo;
  if (all === undefined) return [];
  const owner = schemaAt(schema, written.path.slice(base.length, -1));
  const refersTo = kindsAt(written, all, owner);
  const declared = names.filter(
    ({ isDeclaration, kind }) =>
      isDeclaration && (refersTo.includes(kind) || isPart(kind, refersTo)),
  );
  const labels = declared.map(({ kind, name }) => [labelOf(kind, name), kind] as const);
  return [...new Map(labels)].map(([label, kind]) => ({
    label,
    kind: CompletionItemKind.Reference,
    detail: kind,
    textEdit: { range, newText: label },
  }));
}

/** Returns the kinds that a reference means: the written one, else the default one. */
function kindsAt(
  { source, document, path }: WrittenPosition,
  all: readonly string[],
  owner: Schema | undefined,
): readonly string[] {
  const kind: unknown = source.documents[document]?.yaml.getIn([...path.slice(0, -1), "kind"]);
  if (typeof kind === "string") return all[0] === "section" ? all : [kind];
  return owner?.required?.includes("kind") === true ? all : all.slice(0, 1);
}

/** Whether a reference can name a part of what it refers to: `GATEWAY/LISTENER`. */
function isPart(kind: string, refersTo: readonly string[]): boolean {
  return kind === "listener" && refersTo.includes("gateway");
}

/** Returns a name as references write it: manifests and their parts by the last part of their name. */
function labelOf(kind: string, name: string): string {
  const isWhole = kind === "listener" || kind === "service" || !name.includes("/");
  return isWhole || (/^[a-z]/.test(kind) && kind !== "section")
    ? name
    : name.slice(name.lastIndexOf("/") + 1);
}
