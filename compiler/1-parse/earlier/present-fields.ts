import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
} from "yaml";
import type { EarlierField, YamlFields } from "./earlier-field.ts";
import { EARLIER_FIELDS } from "./earlier-fields.ts";
import { renamedVariables } from "./earlier-variables.ts";

/** A field in an earlier form that a document had. */
export interface FoundEarlierField {
  readonly field: string;
  /** Hint: what to write instead. */
  readonly instead: string;
  /** Range of its key in the text. */
  readonly offsets: readonly [start: number, end: number];
}

/** Keys of which standalone files have at least one, and manifests none. */
const FILE_KEYS: readonly string[] = [
  ...["binds", "gateways", "llm", "mcp", "routes", "tcpRoutes"],
  ...["policies", "backends", "routeGroups", "frontendPolicies"],
];

const found = new WeakMap<Document, readonly FoundEarlierField[]>();

/**
 * Rewrites the fields of a standalone file that agentgateway had before 1.0, so that the nodes have the present form at
 * the places of the text. A document is changed once; the second call returns the same list.
 */
export function presentFields(
  document: Document,
  aliases: ReadonlyMap<Alias, Node> = new Map(),
): readonly FoundEarlierField[] {
  const known = found.get(document) ?? rewritten(document, aliases);
  found.set(document, known);
  return known;
}

function rewritten(
  { contents, errors }: Document,
  aliases: ReadonlyMap<Alias, Node>,
): readonly FoundEarlierField[] {
  if (errors.length > 0 || !isMap(contents) || !isFile(contents)) return [];
  const list: FoundEarlierField[] = [];
  const seen = new Set<unknown>();
  const waiting: { readonly node: unknown; readonly path: readonly string[] }[] = [
    { node: contents, path: [] },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path } = next;
    const node = isAlias(next.node) ? aliases.get(next.node) : next.node;
    if (node === undefined || seen.has(node)) continue;
    seen.add(node);
    if (isScalar(node)) list.push(...renamedIn(node));
    if (isSeq(node)) for (const item of node.items) waiting.push({ node: item, path });
    if (!isMap(node)) continue;
    list.push(...rewrittenIn(node, path));
    for (const { key, value } of node.items)
      waiting.push({ node: value, path: [...path, isScalar(key) ? String(key.value) : ""] });
  }
  return list.toSorted((a, b) => a.offsets[0] - b.offsets[0]);
}

function renamedIn(scalar: Scalar): readonly FoundEarlierField[] {
  const offsets = [scalar.range?.[0] ?? 0, scalar.range?.[1] ?? 0] as const;
  return renamedVariables(scalar).map(({ variable, now }) => ({
    field: variable,
    instead: `write \`${now}\``,
    offsets,
  }));
}

function isFile(contents: YamlFields): boolean {
  return !contents.has("apiVersion") && FILE_KEYS.some((key) => contents.has(key));
}

/** Earlier fields by their names: most mappings have none. */
const BY_NAME: ReadonlyMap<string, readonly EarlierField[]> = Map.groupBy(
  EARLIER_FIELDS,
  ({ field }) => field,
);

function rewrittenIn(fields: YamlFields, path: readonly string[]): readonly FoundEarlierField[] {
  return [...fields.items].flatMap((pair) => {
    const name = isScalar(pair.key) ? String(pair.key.value) : "";
    const range = isScalar(pair.key) ? pair.key.range : undefined;
    return (BY_NAME.get(name) ?? []).flatMap(({ inside, field, rewrite }) => {
      if (!inside.every((step, index) => path.at(index - inside.length) === step)) return [];
      const instead = rewrite(fields, pair);
      if (instead === undefined) return [];
      const offsets = [range?.[0] ?? 0, range?.[1] ?? 0] as const;
      return [{ field, instead, offsets }];
    });
  });
}
