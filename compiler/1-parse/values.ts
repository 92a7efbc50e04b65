import { type Alias, isAlias, isMap, isScalar, isSeq, type Node } from "yaml";
import {
  type ConfigPath,
  childOf,
  type Diagnostics,
  type Origin,
} from "../diagnostics/diagnostic.ts";
import type { SourceDocument } from "../diagnostics/source.ts";
import type { Host } from "../host.ts";
import type { EnvTemplate, EnvVariable } from "../model/texts.ts";
import type { ConfigValue, ExpandedText, ReadValue } from "../schema/config-values.ts";
import { bytesOf, isQuantity } from "../schema/quantity.ts";
import { type Schema, schemaAt } from "../schema/schema.ts";
import {
  expressionWithVariables,
  patternWithVariables,
  type VariablePart,
  type VariableText,
} from "./expression-variables.ts";
import { isIgnored } from "./ignored-fields.ts";

/**
 * Converts a YAML document to data. `$NAME`, `${NAME}` and `${NAME:-fallback}` inside scalars are expanded (`$$` is a
 * dollar sign) after parsing, so that values of the environment never become structure. With `readAtStart` or `secret` in the
 * schema, the reference is preserved and resolved when the gateway starts.
 */
export function readValue(
  document: SourceDocument,
  origin: Origin,
  schema: Schema,
  host: Host,
  diagnostics: Diagnostics,
): ReadValue {
  const envTemplates: { path: ConfigPath; text: EnvTemplate }[] = [];
  const expanded: ExpandedText[] = [];
  const variable = (name: string) => host.variable(name);
  const expansion: Expansion = { origin, schema, variable, diagnostics, envTemplates, expanded };
  const context: Context = {
    aliases: document.aliases,
    path: [],
    mayBeNull: (key, path) => mayBeNull(schema, key, path),
    expand: (text, isPlain, path) => expand(text, isPlain, path, expansion),
  };
  return { value: toValue(document.yaml.contents as Node | null, context), envTemplates, expanded };
}

/**
 * Reads a copy of a part of a manifest like a file. `variable` returns the known variables of the environment in which
 * it will be used.
 */
export function readData(
  value: ConfigValue,
  origin: Origin,
  schema: Schema,
  variable: Expansion["variable"],
  diagnostics: Diagnostics,
): ReadValue {
  const envTemplates: { path: ConfigPath; text: EnvTemplate }[] = [];
  const expanded: ExpandedText[] = [];
  const expansion: Expansion = { origin, schema, variable, diagnostics, envTemplates, expanded };
  const read = (each: ConfigValue, path: ConfigPath): ConfigValue => {
    if (typeof each === "string") {
      // Data has lost its quotes: a value that must be a string is one.
      const isPlain = schemaAt(schema, path)?.type !== "string";
      return isSpecial(each) ? expand(each, isPlain, path, expansion) : each;
    }
    if (typeof each !== "object" || each === null) return each;
    if (isList(each)) return each.map((item, index) => read(item, [...path, index]));
    const record: Record<string, ConfigValue> = Object.create(null);
    for (const [key, item] of Object.entries(each)) record[key] = read(item, [...path, key]);
    return record;
  };
  return { value: read(value, []), envTemplates, expanded };
}

const plainValues = new WeakMap<SourceDocument, ConfigValue>();

/** Converts a document to data with unchanged strings: Kubernetes manifests have no variables. */
export function plainValue(document: SourceDocument): ConfigValue {
  const known = plainValues.get(document);
  if (known !== undefined) return known;
  const plain: Context = { aliases: document.aliases, path: [], expand: (text) => text };
  const value = toValue(document.yaml.contents as Node | null, plain);
  plainValues.set(document, value);
  return value;
}

/** Returns a value with null at each of the paths. */
export function withoutValues(value: ConfigValue, paths: readonly ConfigPath[]): ConfigValue {
  if (paths.length === 0) return value;
  if (paths.some((path) => path.length === 0)) return null;
  const inside = (key: string | number, child: ConfigValue) =>
    withoutValues(
      child,
      paths.flatMap(([first, ...rest]) => (first === key ? [rest] : [])),
    );
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((child, index) => inside(index, child));
  const entries = Object.entries(value).map(([key, child]) => [key, inside(key, child)]);
  return Object.fromEntries(entries);
}

/** Returns a value as canonical JSON, which does not depend on quotes, layout, comments and the order of keys. */
export function canonicalJson(content: ConfigValue): string {
  if (typeof content !== "object" || content === null) return JSON.stringify(content);
  if (isList(content)) return `[${content.map(canonicalJson).join(",")}]`;
  const entries = Object.entries(content).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${canonicalJson(value)}`).join(",")}}`;
}

function isList(value: object): value is readonly ConfigValue[] {
  return Array.isArray(value);
}

interface Context {
  readonly aliases: ReadonlyMap<Alias, Node>;
  /** Current path of the traversal. */
  readonly path: (string | number)[];
  /** Whether a field of the mapping at a path is absent if it is null; never, if it is undefined. */
  readonly mayBeNull?: (key: string, path: ConfigPath) => boolean;
  /** Expands a string with a dollar sign, or one that may be a quantity. */
  readonly expand: (text: string, isPlain: boolean, path: ConfigPath) => ConfigValue;
}

interface Expansion {
  readonly origin: Origin;
  readonly schema: Schema;
  /** Returns the value of an environment variable; `undefined` if it is not known. */
  readonly variable: (name: string) => string | undefined;
  readonly diagnostics: Diagnostics;
  readonly envTemplates: { path: ConfigPath; text: EnvTemplate }[];
  readonly expanded: ExpandedText[];
}

function toValue(node: Node | null, context: Context): ConfigValue {
  if (node === null) return null;
  if (isAlias(node)) return toValue(context.aliases.get(node) ?? null, context);
  if (isSeq(node)) return node.items.map((item, index) => childValue(item, index, context));
  if (isMap(node)) {
    const record: Record<string, ConfigValue> = Object.create(null);
    for (const pair of node.items) {
      const key = isScalar(pair.key) ? String(pair.key.value) : "";
      if (isWrittenNull(pair.value) && context.mayBeNull?.(key, context.path) === true) continue;
      record[key] = childValue(pair.value, key, context);
    }
    return record;
  }
  if (!isScalar(node)) return null;
  const { value } = node;
  if (typeof value === "string") {
    return isSpecial(value)
      ? context.expand(value, node.type === "PLAIN", [...context.path])
      : value;
  }
  return typeof value === "number" || typeof value === "boolean"
    ? value
    : value == null
      ? null
      : String(value);
}

/** Whether a value is the word `null`, not only empty: agentgateway's admin page writes it for absent fields. */
function isWrittenNull(node: unknown): boolean {
  return isScalar(node) && node.value === null && node.source !== undefined && node.source !== "";
}

/** Whether null means that an optional field is absent. A mapping may be a policy, which must not vanish. */
function mayBeNull(schema: Schema, key: string, path: ConfigPath): boolean {
  const fields = schemaAt(schema, path);
  const type = fields?.properties?.[key]?.type;
  return type !== undefined && type !== "object" && fields?.required?.includes(key) !== true;
}

/** Whether a string may need expansion. */
function isSpecial(text: string): boolean {
  return text.includes("$") || isQuantity(text);
}

function childValue(node: unknown, step: string | number, context: Context): ConfigValue {
  context.path.push(step);
  const value = toValue(node as Node | null, context);
  context.path.pop();
  return value;
}

/** Matches what agentgateway replaces in the text of a file before it parses it. */
const VARIABLE = /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\$([A-Za-z_][A-Za-z0-9_]*)/g;

/** Matches the variables of strings that contain dollar signs of their own. */
const DELIMITED_VARIABLE =
  /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|^\$([A-Za-z_][A-Za-z0-9_]*)$/g;

function expand(text: string, isPlain: boolean, path: ConfigPath, context: Expansion): ConfigValue {
  if (isIgnored(context.schema, path)) return text;
  const schema = schemaAt(context.schema, path);
  const parts = variableParts(
    text,
    schema?.hasDollarSigns === true ? DELIMITED_VARIABLE : VARIABLE,
  );
  const isBytes = schema?.isQuantity === true;
  if (parts.every((part) => typeof part === "string")) {
    const plain = parts.join("");
    return isBytes && isQuantity(plain) ? bytesOf(plain) : plain;
  }
  if (schema?.readAtStart === true || schema?.secret === true) {
    context.envTemplates.push({ path, text: { kind: "env", parts } });
    return text;
  }
  let isComplete = true;
  const at = childOf(context.origin, ...path);
  const values = parts.map((part) => {
    if (typeof part === "string") return part;
    const value = context.variable(part.env) ?? part.fallback;
    if (value === undefined) {
      isComplete = false;
      const isBare = !text.includes(`\${${part.env}`);
      context.diagnostics.report("unset-variable", at, { name: part.env, isBare });
    }
    return { name: part.env, value: value ?? "" };
  });
  const found = isComplete ? joined(values, schema) : joined(values, undefined);
  if (found.kind === "misplaced") {
    isComplete = false;
    context.diagnostics.report("misplaced-variable", at, { name: found.name, why: found.why });
  }
  const expanded = found.kind === "text" ? found.text : "";
  context.expanded.push({ path, source: text, isComplete });
  if (isBytes && isQuantity(expanded)) return bytesOf(expanded);
  return isPlain && parts.length === 1 ? plainScalar(expanded) : expanded;
}

/** Joins a string with the values of its variables, which remain data in the language of the string. */
function joined(parts: readonly VariablePart[], schema: Schema | undefined): VariableText {
  if (schema?.expression === true) return expressionWithVariables(parts);
  if (schema?.isPattern === true) return patternWithVariables(parts);
  return {
    kind: "text",
    text: parts.map((part) => (typeof part === "string" ? part : part.value)).join(""),
  };
}

/** Splits a string at its variables; adjacent literals are joined, and `$$` becomes a dollar sign. */
function variableParts(text: string, pattern: RegExp): (string | EnvVariable)[] {
  const parts: (string | EnvVariable)[] = [];
  let plain = "";
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    plain += text.slice(end, match.index);
    end = match.index + match[0].length;
    const [, delimited, fallback, env = delimited] = match;
    if (env === undefined) plain += "$";
    else {
      if (plain !== "") parts.push(plain);
      plain = "";
      parts.push(fallback === undefined ? { env } : { env, fallback });
    }
  }
  plain += text.slice(end);
  if (plain !== "" || parts.length === 0) parts.push(plain);
  return parts;
}

/** Converts an unquoted scalar by YAML's core schema: a number, a boolean, null, or a string. */
function plainScalar(text: string): ConfigValue {
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  if (/^(null|Null|NULL|~)$/.test(text)) return null;
  return /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(text) ? Number(text) : text;
}
