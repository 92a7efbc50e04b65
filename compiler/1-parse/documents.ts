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
import { FOREIGN_SPACE, foreignSpace, syntaxProblem } from "./syntax-advice.ts";
import { plainValue } from "./values.ts";

/** Nodes that one document may have after its aliases are expanded. */
const NODE_LIMIT = 200_000;

const NO_ALIASES: ReadonlyMap<Alias, Node> = new Map();

/**
 * Reads the YAML documents of one file: YAML 1.2 core schema, unique keys, no merge keys, no custom tags. Mistakes are
 * reported; a file that has any is not compiled further.
 */
export function readDocuments(
  name: string,
  path: string,
  text: string,
  diagnostics: Diagnostics,
): SourceFile {
  const parsed = parseAllDocuments(text, {
    version: "1.2",
    // found below: the parser compares each key of a mapping with all before it
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "silent",
  });
  // Most files have no aliases, and a walk through all of a large one takes long.
  const mayAlias = text.includes("*");
  const documents = (Array.isArray(parsed) ? parsed : []).map((yaml, index): SourceDocument => {
    const origin: Origin = { file: name, document: index, path: [] };
    reportSyntax(yaml, origin, text, diagnostics);
    if (yaml.contents !== null && yaml.errors.length === 0)
      reportKeys(yaml.contents, origin, text, diagnostics);
    const aliases =
      mayAlias && yaml.errors.length === 0 ? aliasTargets(yaml, origin, diagnostics) : NO_ALIASES;
    if (yaml.errors.length === 0) refuseAliasBomb(yaml, aliases, origin, diagnostics);
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

/** The first mistake of a document: what follows it is mostly its consequence. */
function reportSyntax(
  yaml: Document,
  origin: Origin,
  text: string,
  diagnostics: Diagnostics,
): void {
  // A warning is an unknown tag, which would change what a value means without a word.
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

/** Braces of Helm and its like, which YAML takes for mappings: `{{ .Values.port }}`, `{{- range`. */
const TEMPLATE = /\{\{-?\s*(?:[.$"(]|[a-z]+\s)[^}\n]*\}\}/;

/** Reports the keys that come twice in a mapping, at the second one, and those that are mappings. */
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

/** Keys that stand in a row and came before: several are an item of a list, or a document, without its first sign. */
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

/** What each alias stands for: the last node before it with that anchor. One walk, whatever the number of aliases. */
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
        const problem = `no anchor "&${alias.source}" stands before this alias`;
        const advice = `a text that begins with a star stands in quotes: "*${alias.source}"`;
        diagnostics.report("yaml-syntax", { ...origin, offsets }, { problem, advice });
      }
    },
    Value(_, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

/** Counts what the aliases would expand to, without expanding: each node's size is summed once. */
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
  // An alias inside its own anchor never ends.
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
