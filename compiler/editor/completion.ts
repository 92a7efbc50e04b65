import { type CompletionItem, CompletionItemKind, type Range } from "vscode-languageserver";
import { typeText } from "../inspect/reference/fields.ts";
import { type Schema, schemaAt } from "../schema/schema.ts";
import { knownFields } from "../schema/suggested-field.ts";
import type { DocumentSchema } from "./field-reference.ts";
import type { WrittenPosition } from "./written-position.ts";

/** Returns the fields and values that can be written at a position. */
export function completionsAt(
  written: WrittenPosition,
  { schema: root, base }: DocumentSchema,
  { range, indent }: WrittenRange,
): readonly CompletionItem[] {
  const schema = schemaAt(root, written.path.slice(base.length));
  if (schema === undefined) return [];
  if (written.role === "key") return fieldItems(schema, written, { range, indent });
  return [...valueItems(schema, range), ...fieldItems(schema, written, { range, indent })];
}

/** Range of the word that is replaced, and the column of its start. */
export interface WrittenRange {
  readonly range: Range;
  readonly indent: number;
}

function fieldItems(
  schema: Schema,
  { siblings, hasValue }: WrittenPosition,
  { range, indent }: WrittenRange,
): readonly CompletionItem[] {
  const names = knownFields(schema).filter((name) => !siblings.includes(name));
  return names.flatMap((name): readonly CompletionItem[] => {
    const field = schema.properties?.[name];
    if (field === undefined) return [];
    const isRequired = schema.required?.includes(name) === true;
    return [
      {
        label: name,
        kind: CompletionItemKind.Field,
        detail: detailOf(field, isRequired),
        ...documentationOf(field),
        // Required fields come first.
        sortText: `${isRequired ? 0 : 1}${name}`,
        textEdit: { range, newText: hasValue ? name : `${name}:${openingOf(field, indent)}` },
        insertTextMode: 1,
      },
    ];
  });
}

function detailOf(field: Schema, isRequired: boolean): string {
  const value = field.default === undefined ? "" : `, default ${valueText(field.default)}`;
  return `${typeText(field)}${value}${isRequired ? ", required" : ""}`;
}

/** Returns what follows the colon of a new field: a line of its own for a mapping or a list. */
function openingOf({ type, properties, items }: Schema, indent: number): string {
  const types = [type ?? []].flat();
  const isScalar = types.some((each) => each !== "object" && each !== "array");
  const line = `\n${" ".repeat(indent + INDENT)}`;
  if (isScalar || (properties === undefined && items === undefined)) return " ";
  return items === undefined ? line : `${line}- `;
}

/** Spaces of a level. */
const INDENT = 2;

function valueItems(schema: Schema, range: Range): readonly CompletionItem[] {
  const { enum: words, type, default: value, refersTo } = schema;
  const types = [type ?? []].flat();
  const flags = types.includes("boolean") ? [true, false] : [];
  const isFree = types.includes("string") && words === undefined && refersTo === undefined;
  const examples = isFree ? (schema.examples ?? []) : [];
  const scalars = [...(words ?? []), ...flags, ...examples.filter(isScalarValue)];
  const known = value !== undefined && isScalarValue(value) && !scalars.includes(value);
  return [...scalars, ...(known ? [value] : [])].map((each) => ({
    label: String(each),
    kind: words === undefined ? CompletionItemKind.Value : CompletionItemKind.EnumMember,
    ...(each === value && { detail: "default" }),
    textEdit: { range, newText: yamlText(each) },
  }));
}

function isScalarValue(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

/** Writes a value as a plain scalar, or quoted if YAML would read something else. */
function yamlText(value: string | number | boolean): string {
  return typeof value !== "string" || /^[A-Za-z/][\w./-]*$/.test(value)
    ? String(value)
    : JSON.stringify(value);
}

function documentationOf({ description }: Schema): Pick<CompletionItem, "documentation"> {
  return description === undefined
    ? {}
    : { documentation: { kind: "markdown", value: description } };
}

function valueText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
