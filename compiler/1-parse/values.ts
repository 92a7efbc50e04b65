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

/**
 * Turns a YAML document into data. `${NAME}` and `${NAME:-fallback}` are expanded inside scalar values (`$$` is a
 * dollar), after parsing: text of the environment never becomes structure. Where the schema says `readAtStart` or `secret`
 * the reference is kept and read when the gateway starts.
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
    expand: (text, isPlain, path) => expand(text, isPlain, path, expansion),
  };
  return { value: toValue(document.yaml.contents as Node | null, context), envTemplates, expanded };
}

/**
 * A part of a manifest that is read as a file would be, of a copy. `variable`: what is known of the environment that it
 * will be used in.
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
      // Data has lost its quotes: what has to be a text is one.
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

/** A document as data with every text as it stands: Kubernetes manifests have no variables. */
export function plainValue(document: SourceDocument): ConfigValue {
  const known = plainValues.get(document);
  if (known !== undefined) return known;
  const plain: Context = { aliases: document.aliases, path: [], expand: (text) => text };
  const value = toValue(document.yaml.contents as Node | null, plain);
  plainValues.set(document, value);
  return value;
}

/** A value with null at each of the paths. */
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

/** A value as canonical JSON: the same for every quoting, layout, comment and order of keys. */
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
  /** Where the walk is. */
  readonly path: (string | number)[];
  /** What a text with a dollar sign, or one that may be a quantity, stands for. */
  readonly expand: (text: string, isPlain: boolean, path: ConfigPath) => ConfigValue;
}

interface Expansion {
  readonly origin: Origin;
  readonly schema: Schema;
  /** The value of a variable of the environment, if it is known. */
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

/** Whether a text may stand for something else. */
function isSpecial(text: string): boolean {
  return text.includes("$") || isQuantity(text);
}

function childValue(node: unknown, step: string | number, context: Context): ConfigValue {
  context.path.push(step);
  const value = toValue(node as Node | null, context);
  context.path.pop();
  return value;
}

const VARIABLE = /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** What stands where a secret does may be a variable without braces: files for the reference write keys so. */
const BARE_VARIABLE = /^\$([A-Za-z_][A-Za-z0-9_]*)$/;

function expand(text: string, isPlain: boolean, path: ConfigPath, context: Expansion): ConfigValue {
  const schema = schemaAt(context.schema, path);
  const [, bare] = (schema?.secret === true && BARE_VARIABLE.exec(text)) || [];
  const parts = bare === undefined ? variableParts(text) : [{ env: bare }];
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
      context.diagnostics.report("unset-variable", at, { name: part.env });
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

/** The text with the values of its variables, which are never more than data in what the text is read as. */
function joined(parts: readonly VariablePart[], schema: Schema | undefined): VariableText {
  if (schema?.expression === true) return expressionWithVariables(parts);
  if (schema?.isPattern === true) return patternWithVariables(parts);
  return {
    kind: "text",
    text: parts.map((part) => (typeof part === "string" ? part : part.value)).join(""),
  };
}

/** The text cut at its variables; neighbouring text joined, `$$` already a dollar. */
function variableParts(text: string): (string | EnvVariable)[] {
  const parts: (string | EnvVariable)[] = [];
  let plain = "";
  let end = 0;
  for (const match of text.matchAll(VARIABLE)) {
    plain += text.slice(end, match.index);
    end = match.index + match[0].length;
    const [, env, fallback] = match;
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

/** What a plain scalar of that text is in YAML's core schema: a number, a boolean, null, or text. */
function plainScalar(text: string): ConfigValue {
  if (/^(true|True|TRUE)$/.test(text)) return true;
  if (/^(false|False|FALSE)$/.test(text)) return false;
  if (/^(null|Null|NULL|~)$/.test(text)) return null;
  return /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/.test(text) ? Number(text) : text;
}
