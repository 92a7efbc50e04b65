import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node } from "yaml";
import type { ComparedSchemas, SchemaPair } from "./schema-changes.ts";
import { changesOfValue } from "./value-changes.ts";

/** A place of a file whose meaning or validity a change of the schema affects. */
export interface AffectedPlace {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  /** `routes[0].policies.timeout`. */
  readonly path: string;
  readonly text: string;
}

/** Finds the places of a document that differences of the schemas affect. */
export function affectedPlaces(
  document: Document,
  lines: LineCounter,
  schemas: ComparedSchemas,
): readonly AffectedPlace[] {
  const found: AffectedPlace[] = [];
  const visit = (node: unknown, path: string, pair: SchemaPair, key?: Node): void => {
    const target = isAlias(node) ? node.resolve(document) : node;
    if (!isMap(target) && !isSeq(target) && !isScalar(target)) return;
    const value: unknown = target.toJS(document, { maxAliasCount: 1000 });
    const resolve = schemas.resolverOf();
    for (const { field, text, affects } of changesOfValue(pair.before, pair.now, resolve)) {
      if (!affects(value)) continue;
      const own = isMap(target)
        ? target.items.find((each) => keyOf(each.key) === field)
        : undefined;
      const { line, col } = lines.linePos(offsetOf(own?.key ?? key ?? target));
      found.push({ line, column: col, path: joined(path, field), text });
    }
    if (isMap(target))
      for (const { key: name, value: inner } of target.items) {
        const step = keyOf(name);
        const below = step === undefined ? undefined : schemas.child(pair, step);
        if (step !== undefined && below !== undefined)
          visit(inner, joined(path, step), below, isScalar(name) ? name : undefined);
      }
    if (isSeq(target))
      for (const [index, item] of target.items.entries()) {
        const below = schemas.child(pair, index);
        if (below !== undefined) visit(item, `${path}[${index}]`, below);
      }
  };
  visit(document.contents, "", schemas.root);
  return found;
}

function keyOf(key: unknown): string | undefined {
  return isScalar(key) && key.value !== null ? String(key.value) : undefined;
}

function offsetOf(node: unknown): number {
  const { range } = isMap(node) || isSeq(node) || isScalar(node) ? node : {};
  return range?.[0] ?? 0;
}

function joined(path: string, step: string | undefined): string {
  if (step === undefined) return path;
  return path === "" ? step : `${path}.${step}`;
}
