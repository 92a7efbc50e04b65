import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isPair,
  isScalar,
  type Node,
  parseAllDocuments,
  type Scalar,
  visit,
} from "yaml";
import type { Diagnostics, Origin } from "../diagnostics/diagnostic.ts";
import type { SourceDocument, SourceFile } from "../diagnostics/source.ts";
import type { ConfigValue } from "../schema/config-values.ts";
import { presentFields } from "./earlier/present-fields.ts";
import { FOREIGN_SPACE, foreignSpace, syntaxProblem } from "./syntax-advice.ts";
import { plainValue } from "./values.ts";

/** Maximum number of nodes of a document after its aliases are expanded. */
const NODE_LIMIT = 200_000;

const NO_ALIASES: ReadonlyMap<Alias, Node> = new Map();

/** Parses YAML 1.2 with the core schema, without custom tags. */
export function parseYaml(text: string): readonly Document[] {
  const parsed = parseAllDocuments(text, {
    version: "1.2",
    // Checked by `readDocuments`: the parser compares each key of a mapping with all previous ones.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  return Array.isArray(parsed) ? parsed : [];
}

/**
 * Reads the YAML documents of a file: unique keys, no merge keys, no unknown anchors. Reports mistakes; a file with any
 * is not compiled further. Fields in an earlier form are rewritten, which is a warning. `parsed` is its parsed text, if that is known.
 */
export function readDocuments(
  name: string,
  path: string,
  text: string,
  diagnostics: Diagnostics,
  parsed: readonly Document[] = parseYaml(text),
): SourceFile {
  // Most files have no aliases, and walking a large one takes long.
  const mayAlias = text.includes("*");
  const documents = parsed.map((yaml, index): SourceDocument => {
    const origin: Origin = { file: name, document: index, path: [] };
    reportSyntax(yaml, origin, text, diagnostics);
    if (yaml.contents !== null && yaml.errors.length === 0)
      reportKeys(yaml.contents, origin, text, diagnostics);
    const aliases =
      mayAlias && yaml.errors.length === 0 ? aliasTargets(yaml, origin, diagnostics) : NO_ALIASES;
    if (yaml.errors.length === 0) refuseAliasBomb(yaml, aliases, origin, diagnostics);
    for (const { offsets, ...params } of presentFields(yaml, aliases))
      diagnostics.report("earlier-form", { ...origin, offsets }, params);
    return { yaml, aliases };
  });
  let data: readonly ConfigValue[] | undefined;
  return {
    ...{ name, path, text, documents },
    get data() {
      const isSound = documents.every(({ yaml }) => yaml.errors.length === 0);
      data ??= isSound ? documents.map(plainValue) : [];
      return data;
    },
  };
}

/** Reports the first mistake of a document: later ones are mostly consequences. */
function reportSyntax(
  yaml: Document,
  origin: Origin,
  text: string,
  diagnostics: Diagnostics,
): void {
  // A warning is an unknown tag, which would silently change the meaning of a value.
  const [error] = [...yaml.errors, ...yaml.warnings];
  if (error === undefined) return;
  const template = TEMPLATE.exec(text);
  if (template !== null) {
    const offsets = [template.index, template.index + template[0].length] as const;
    diagnostics.report("unrendered-template", { ...origin, offsets }, {});
    return;
  }
  const { offsets, ...params } = syntaxProblem(error, yaml, text);
  diagnostics.report("yaml-syntax", { ...origin, offsets }, params);
}

/** Template braces of Helm and similar tools, which YAML parses as mappings: `{{ .Values.port }}`, `{{- range`. */
const TEMPLATE = /\{\{-?\s*(?:[.$"(]|[a-z]+\s)[^}\n]*\}\}/;

/** Reports repeated keys of a mapping, at the second one, and keys that are mappings. */
function reportKeys(root: Node, origin: Origin, text: string, diagnostics: Diagnostics): void {
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (isCollection(node)) for (const part of parts(node, NO_ALIASES)) waiting.push(part);
    const seen = new Set<unknown>();
    let again: Scalar[] = [];
    for (const { key } of isMap(node) ? node.items : []) {
      if (isMap(key)) {
        reportTemplate(node, origin, diagnostics);
        return;
      }
      if (!isScalar(key)) continue;
      reportForeignSpace(key, origin, text, diagnostics);
      if (seen.has(key.value)) again.push(key);
      else {
        reportAgain(again, origin, text, diagnostics);
        again = [];
      }
      seen.add(key.value);
    }
    reportAgain(again, origin, text, diagnostics);
  }
}

function reportForeignSpace(key: Scalar, origin: Origin, text: string, diagnostics: Diagnostics) {
  const start = key.range?.[0] ?? 0;
  if (typeof key.value !== "string" || !FOREIGN_SPACE.test(key.value)) return;
  const { offsets, ...params } = foreignSpace(start, text);
  diagnostics.report("yaml-syntax", { ...origin, offsets }, params);
}

/** Reports repeated keys in a row. Several of them are a list item without `- `, or a document without `---`. */
function reportAgain(
  keys: readonly Scalar[],
  origin: Origin,
  text: string,
  diagnostics: Diagnostics,
): void {
  const written = keys.map(({ range }) => writtenKey(text, range?.[0] ?? 0));
  const [first] = written;
  if (first === undefined) return;
  const names = written.map(({ key }) => key.replace(/^["']|["']$/g, ""));
  const offsets = [first.start, first.start + first.key.length] as const;
  diagnostics.report("duplicate-key", { ...origin, offsets }, { keys: names });
}

function writtenKey(text: string, start: number): { readonly start: number; readonly key: string } {
  const line = text.slice(start, start + 1_000);
  return { start, key: /^(?:"[^"\n]*"|'[^'\n]*'|[^\s:]+)/.exec(line)?.[0] ?? "" };
}

function reportTemplate({ range }: Node, origin: Origin, diagnostics: Diagnostics): void {
  const offsets = [range?.[0] ?? 0, range?.[1] ?? 0] as const;
  diagnostics.report("unrendered-template", { ...origin, offsets }, {});
}

/**
 * Maps each alias to its target: the last node before it with that anchor. Walks the document once, whatever the number
 * of aliases.
 */
function aliasTargets(
  yaml: Document,
  origin: Origin,
  diagnostics: Diagnostics,
): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(yaml, {
    Alias(_, alias) {
      const target = anchors.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
      else {
        const offsets = [alias.range?.[0] ?? 0, alias.range?.[1] ?? 0] as const;
        const problem = `there is no anchor "&${alias.source}" before this alias`;
        const advice = `put a string that begins with a star in quotes: "*${alias.source}"`;
        diagnostics.report("yaml-syntax", { ...origin, offsets }, { problem, advice });
      }
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** Refuses aliases that expand to too many nodes, without expanding them: the size of each node is computed once. */
function refuseAliasBomb(
  yaml: Document,
  aliases: ReadonlyMap<Alias, Node>,
  origin: Origin,
  diagnostics: Diagnostics,
): void {
  if (yaml.contents === null || aliases.size === 0) return;
  if (expandedSize(yaml.contents, aliases, new Map(), new Set()) <= NODE_LIMIT) return;
  const [first] = aliases.keys();
  const offsets = [first?.range?.[0] ?? 0, first?.range?.[1] ?? 0] as const;
  diagnostics.report("alias-bomb", { ...origin, offsets }, { limit: NODE_LIMIT });
}

function expandedSize(
  node: Node,
  aliases: ReadonlyMap<Alias, Node>,
  sizes: Map<Node, number>,
  open: Set<Node>,
): number {
  const known = sizes.get(node);
  if (known !== undefined) return known;
  // An alias inside its own anchor expands forever.
  if (open.has(node)) return Number.POSITIVE_INFINITY;
  open.add(node);
  let size = 1;
  for (const part of parts(node, aliases)) size += expandedSize(part, aliases, sizes, open);
  open.delete(node);
  sizes.set(node, size);
  return size;
}

function parts(node: Node, aliases: ReadonlyMap<Alias, Node>): Node[] {
  if (isAlias(node)) {
    const target = aliases.get(node);
    return target === undefined ? [] : [target];
  }
  if (!isCollection(node)) return [];
  const found: Node[] = [];
  for (const item of node.items) {
    for (const part of isPair(item) ? [item.key, item.value] : [item]) {
      if (part !== null) found.push(part as Node);
    }
  }
  return found;
}
