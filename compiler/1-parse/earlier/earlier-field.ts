import { isMap, isScalar, isSeq, type Node, Pair, Scalar, YAMLMap, YAMLSeq } from "yaml";

/** A mapping of a YAML document. */
export type YamlFields = YAMLMap<unknown, unknown>;

/** A field that agentgateway had before 1.0, and its present form. */
export interface EarlierField {
  /** Names of the fields that contain it, without the numbers of list items; the innermost one last. */
  readonly inside: readonly string[];
  readonly field: string;
  /**
   * Changes the mapping that contains the field, and returns a hint: what to write instead. Returns `undefined`, and
   * changes nothing, if the value has no present form.
   */
  readonly rewrite: (fields: YamlFields, pair: Pair) => string | undefined;
}

/** Conditions and conversion of a field that has moved. */
interface Move {
  /** Whether a value has the earlier form. */
  readonly when?: (value: unknown) => boolean;
  /** Whether the present field is a list of such values. */
  readonly isList?: boolean;
  /** Converts a scalar. */
  readonly value?: (value: unknown) => string;
  /** Earlier field next to it with which it has no present form. */
  readonly unless?: string;
}

/** A field whose value is at another place now, below the mapping that contained it. */
export function moved(
  inside: readonly string[],
  field: string,
  to: readonly string[],
  { when = () => true, isList = false, value: converted, unless }: Move = {},
): EarlierField {
  return {
    inside,
    field,
    rewrite: (fields, pair) => {
      if (!when(pair.value) || (unless !== undefined && fields.has(unless))) return undefined;
      const [last = field, ...outer] = [...to].reverse();
      const target = mappingAt(fields, outer.reverse(), pair);
      if (target === undefined || target.has(last)) return undefined;
      if (converted !== undefined && isScalar(pair.value))
        pair.value = scalarAt(pair.value, converted(pair.value.value));
      const value = isList ? sequenceOf([pair.value]) : pair.value;
      remove(fields, pair);
      target.items.push(new Pair(scalarAt(pair.key, last), value));
      const inner = isList ? "[...]" : "...";
      return `write ${to.map((name) => `${name}: `).join("{ ")}${inner}${" }".repeat(to.length - 1)}`;
    },
  };
}

/** A field that had no effect and does not exist any more. */
export function removed(inside: readonly string[], field: string, why: string): EarlierField {
  return {
    inside,
    field,
    rewrite: (fields, pair) => {
      if (!isScalar(pair.value)) return undefined;
      remove(fields, pair);
      return `remove it: ${why}`;
    },
  };
}

/** A mapping that is the only item of a list now. */
export function earlierMapping(inside: readonly string[], field: string): EarlierField {
  return {
    inside,
    field,
    rewrite: (_, pair) => {
      if (!isMap(pair.value)) return undefined;
      pair.value = sequenceOf([pair.value]);
      return `write a list: ${field}: [...]`;
    },
  };
}

/** Returns a field of a mapping; `undefined` if it is absent. */
export function pairNamed(fields: YamlFields, name: string): Pair | undefined {
  return fields.items.find(({ key }) => isScalar(key) && key.value === name);
}

function remove(fields: YamlFields, pair: Pair): void {
  const at = fields.items.indexOf(pair);
  if (at >= 0) fields.items.splice(at, 1);
}

/** Returns a list of nodes at the place of the first one. */
export function sequenceOf(values: readonly unknown[]): YAMLSeq {
  const list = new YAMLSeq();
  list.items = [...values];
  placeAt(list, values[0]);
  return list;
}

/** Returns a mapping with fields, at the place of a node. */
export function mappingOf(pairs: readonly Pair[], at: unknown): YamlFields {
  const fields: YamlFields = new YAMLMap();
  fields.items = [...pairs];
  placeAt(fields, at);
  return fields;
}

/** Returns a scalar at the place of a node, with its comments. */
export function scalarAt(at: unknown, value: unknown): Scalar {
  const scalar = new Scalar(value);
  placeAt(scalar, at);
  if (!isScalar(at)) return scalar;
  if (at.commentBefore != null) scalar.commentBefore = at.commentBefore;
  if (at.comment != null) scalar.comment = at.comment;
  if (at.spaceBefore === true) scalar.spaceBefore = true;
  return scalar;
}

/** Returns the mapping below another one, which is created where `pair` is; `undefined` if something else is there. */
function mappingAt(
  fields: YamlFields,
  path: readonly string[],
  pair: Pair,
): YamlFields | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return fields;
  const own = pairNamed(fields, name);
  if (own !== undefined) {
    // Only one of several kinds may be present.
    if (!isMap(own.value)) return undefined;
    return mappingAt(own.value, rest, pair);
  }
  const created = mappingOf([], pair.value);
  const found = mappingAt(created, rest, pair);
  fields.items.push(new Pair(scalarAt(pair.key, name), created));
  return found;
}

function placeAt(node: Node, at: unknown): void {
  const range = isScalar(at) || isMap(at) || isSeq(at) ? at.range : undefined;
  if (range != null) node.range = range;
}
