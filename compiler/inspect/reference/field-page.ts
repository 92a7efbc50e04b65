import type { Schema } from "../../schema/schema.ts";
import { boundsText } from "../../schema/schema-messages.ts";
import { exampleText } from "./example.ts";
import { FILE_FORM, type FieldEntry, fieldsNamed } from "./field-index.ts";
import { fieldTable, typeText } from "./fields.ts";
import { type Page, type Part, paragraph, table } from "./page.ts";

/** Returns the page of a field or section, or a list of fields with the same name; `undefined` if the name is unknown. */
export function fieldPage(words: string, fields: readonly FieldEntry[]): Page | undefined {
  const found = fieldsNamed(words, fields);
  // Fields with the same meaning in several places are one field.
  const meanings = [...Map.groupBy(found, meaningOf).values()];
  const [only, ...others] = meanings;
  if (only === undefined) return undefined;
  return others.length === 0 ? onePage(only) : choicePage(words, meanings);
}

/** Returns the page of one field. */
export function entryPage(entry: FieldEntry): Page {
  return onePage([entry]);
}

/** Lists the names of fields, for suggestions. */
export function fieldNames(fields: readonly FieldEntry[]): readonly string[] {
  const names = fields.map(({ form, path }) => path.at(-1)?.replace(/\[\]$/, "") ?? form);
  return [...new Set(names)];
}

/** Lists the sections of the standalone file with their descriptions. */
export function fileSections(
  fields: readonly FieldEntry[],
): readonly (readonly [name: string, description: string])[] {
  return fields.flatMap(({ form, path, schema }) => {
    const [name, ...below] = path;
    const isSection = form === FILE_FORM && name !== undefined && below.length === 0;
    return isSection && schema.unsupported === undefined
      ? [[name, schema.description ?? ""] as const]
      : [];
  });
}

/** Returns a key that is equal for fields with the same description, type and subfields; limits may differ between forms. */
function meaningOf({ schema }: FieldEntry): string {
  const { properties, items, description, unsupported, enum: words } = schema;
  const fields = Object.keys({ ...properties, ...items?.properties });
  return JSON.stringify([description, unsupported, typeText(schema), words, fields]);
}

function onePage(entries: readonly FieldEntry[]): Page {
  const [entry] = entries;
  const { path = [], form = "", schema = {}, isRequired = false } = entry ?? {};
  const parts = [
    ...(schema.description === undefined ? [] : [paragraph(schema.description)]),
    ...(schema.unsupported === undefined
      ? factParts(schema, isRequired)
      : notBuilt(schema.unsupported)),
    ...exampleParts(entry),
    ...placesPart(entries),
    ...fieldTable(schema),
  ];
  const named = path.filter((step) => step !== "*");
  return { title: named.length === 0 ? form : named.slice(-2).join("."), parts };
}

function notBuilt(what: string): readonly Part[] {
  return [
    paragraph(
      `Not supported yet: this version knows ${what}, but cannot enforce it. Using it is an error.`,
    ),
  ];
}

function factParts(schema: Schema, isRequired: boolean): readonly Part[] {
  const rows = [
    ["Type", typeText(schema)],
    ["Required", isRequired ? "yes" : ""],
    ["Default", schema.default === undefined ? "" : plainText(schema.default)],
    ["One of", [...new Set((schema.enum ?? []).map(String))].join(", ")],
    ["Limits", boundsText(schema)],
    ["Alias of", schema.aliasOf ?? ""],
    [
      "Read",
      schema.readAtStart || schema.secret ? "`${NAME}` is resolved when the gateway starts" : "",
    ],
    ["Not supported", schema.misplaced === undefined ? "" : `here; use it on ${schema.misplaced}`],
  ];
  return table(
    ["property", "value"],
    rows.filter(([, value]) => value !== ""),
  );
}

function plainText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function exampleParts(entry: FieldEntry | undefined): readonly Part[] {
  const name = entry?.path.at(-1)?.replace(/\[\]$/, "");
  if (entry === undefined || entry.schema.unsupported !== undefined || name === undefined)
    return [];
  return [{ kind: "example", language: "yaml", text: exampleText(name, entry.schema) }];
}

/** Maximum number of listed places; fields of policies have too many to be useful. */
const MAX_PLACES = 8;

function placesPart(entries: readonly FieldEntry[]): readonly Part[] {
  const places = entries.map(placeText);
  const rest = places.length - MAX_PLACES;
  const lines = [...places.slice(0, MAX_PLACES), ...(rest > 0 ? [`and ${rest} more`] : [])];
  return table(
    ["use", "place"],
    lines.map((place, index) => [index === 0 ? "Used in" : "", place]),
  );
}

function placeText({ form, path }: FieldEntry): string {
  return path.length === 0 ? form : `${form}: ${pathText(path)}`;
}

/** Formats a path, with `NAME` for a name that the user chooses. */
function pathText(path: readonly string[]): string {
  return path.map((step) => (step === "*" ? "NAME" : step)).join(".");
}

function choicePage(words: string, meanings: readonly (readonly FieldEntry[])[]): Page {
  const rows = meanings.map(([entry]) => {
    const path = pathText(entry?.path ?? []);
    return [
      entry?.form === FILE_FORM ? path : `${entry?.form}.${path}`,
      entry?.schema.description ?? "",
    ];
  });
  return {
    title: words,
    parts: [
      paragraph(
        "Several fields have this name. `gwc explain PATH` prints the page of one; the end of a path is enough.",
      ),
      ...table(["path", "what it is"], rows),
    ],
  };
}
