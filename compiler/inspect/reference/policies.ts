import { policies } from "../../policies/index.ts";
import type { Schema } from "../../schema/schema.ts";
import { heading, type Page, paragraph, type Row, table } from "./page.ts";

/** The page of a policy; undefined when there is none of that name. */
export function policyPage(name: string): Page | undefined {
  const index = policies.findIndex(({ kind }) => kind === name);
  const policy = policies[index];
  if (policy === undefined) return undefined;
  const { kind, summary, scope, schema, kubernetes } = policy;
  const place = `In request order it is number ${index + 1} of ${policies.length}.`;
  const field = kubernetes && ` In a GatewayPolicy it is \`${kubernetes.field}\``;
  const filter = kubernetes?.filter && ` (or the filter \`${kubernetes.filter}\` of a rule)`;
  return {
    title: kind,
    parts: [
      paragraph(`It ${summary}.`),
      paragraph(
        `It may stand on: ${scope.join(", ")}. ${place}${field === undefined ? "" : `${field}${filter ?? ""}.`}`,
      ),
      heading("Fields"),
      ...table(["field", "type", "what it is"], fieldRows(schema, "")),
    ],
  };
}

/** The pages of all policies, in request order, behind one that says what they are. */
export function policyPages(): readonly Page[] {
  const introduction: Page = {
    title: "Policies",
    parts: [
      paragraph(
        "In the order in which a request meets them. A policy that is not configured is not in the bundle. " +
          "`gwc explain NAME` prints the page of one.",
      ),
      ...table(
        ["policy", "what it does", "stands on"],
        policies.map(({ kind, summary, scope }) => [`\`${kind}\``, summary, scope.join(", ")]),
      ),
    ],
  };
  return [introduction, ...policies.flatMap(({ kind }) => policyPage(kind) ?? [])];
}

/** The fields of an object by path, those of objects inside them behind it; a list shows the fields of its items. */
function fieldRows(schema: Schema, prefix: string): readonly Row[] {
  const known = Object.entries(schema.properties ?? {}).filter(
    ([, each]) => each.unsupported === undefined,
  );
  const own = known.flatMap(([name, each]): readonly Row[] => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const required = schema.required?.includes(name) === true ? "Required. " : "";
    const inner = each.items ?? each;
    return [
      [`\`${path}\``, typeText(each), `${required}${each.description ?? ""}${limitsText(each)}`],
      ...fieldRows(inner, each.items === undefined ? path : `${path}[]`),
    ];
  });
  if (own.length > 0 || prefix !== "" || schema.items === undefined) return own;
  return fieldRows(schema.items, "[]");
}

function typeText({ type, format, expression, items }: Schema): string {
  if (expression === true) return "expression";
  if (format !== undefined) return FORMATS[format] ?? format;
  if (items !== undefined) return `list of ${plural(typeText(items))}`;
  const types = type === undefined ? [] : [type].flat();
  return types.map((each) => TYPES[each] ?? each).join(" or ") || "any";
}

const TYPES: Readonly<Record<string, string>> = { string: "text", array: "list" };

const FORMATS: Readonly<Record<string, string>> = {
  gatewayDuration: "duration",
  "loopback-address": "address",
};

function plural(type: string): string {
  return type === "any" ? "values" : `${type}s`;
}

/** What values it takes besides its type, and what holds without it. */
function limitsText({ default: value, enum: choices, minimum, maximum }: Schema): string {
  const one = choices === undefined ? "" : ` One of: ${choices.map(code).join(", ")}.`;
  const range =
    minimum === undefined || maximum === undefined ? "" : ` From ${minimum} to ${maximum}.`;
  return `${one}${range}${value === undefined ? "" : ` Default: ${code(value)}.`}`;
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
