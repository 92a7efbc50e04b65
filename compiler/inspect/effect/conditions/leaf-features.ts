import type { LiteralNode, Node } from "../../../cel/parse/ast.ts";
import { literalPattern } from "../../../model/literal-pattern.ts";
import { type DataPath, pathAskedFor, pathKey, pathOf } from "../data/data-path.ts";
import { featureKey, type StringFeature } from "../strings/string-feature.ts";

/** Features by which a condition distinguishes values; values that agree in all of them give the same result. */
export interface ValueFeatures {
  readonly strings: ReadonlyMap<string, StringFeature>;
  readonly numbers: ReadonlySet<number>;
  /** Networks, as in `cidr`. */
  readonly networks: ReadonlySet<string>;
  /** Sizes of a list or map. */
  readonly sizes: ReadonlySet<number>;
  /** Features of list elements or map keys; `undefined` if the condition does not test them. */
  readonly elements: ValueFeatures | undefined;
}

/** Whether a condition tests its value as a whole, any element (`exists`, `in`), or all elements. */
export type LeafForm = "value" | "exists" | "all";

/** Form and features of a condition over one value. */
export interface LeafShape {
  readonly form: LeafForm;
  readonly features: ValueFeatures;
}

/** Merges the features of several conditions. */
export function joinFeatures(all: readonly ValueFeatures[]): ValueFeatures {
  const elements = all.flatMap((each) => each.elements ?? []);
  return {
    strings: new Map(all.flatMap(({ strings }) => [...strings])),
    numbers: new Set(all.flatMap(({ numbers }) => [...numbers])),
    networks: new Set(all.flatMap(({ networks }) => [...networks])),
    sizes: new Set(all.flatMap(({ sizes }) => [...sizes])),
    elements: elements.length === 0 ? undefined : joinFeatures(elements),
  };
}

/** No features: only absence and type are distinguished. */
export const NO_FEATURES: ValueFeatures = {
  strings: new Map(),
  numbers: new Set(),
  networks: new Set(),
  sizes: new Set(),
  elements: undefined,
};

/** Returns the form and features of a condition on the value at a path; `undefined` if it tests something else. */
export function leafShape(node: Node, path: DataPath): LeafShape | undefined {
  const key = pathKey(path);
  const isSubject = (each: Node): boolean => {
    const found = pathOf(each);
    return found !== undefined && pathKey(found) === key;
  };
  if (isSubject(node)) return { form: "value", features: NO_FEATURES };
  const asked = pathAskedFor(node);
  if (asked !== undefined && pathKey(asked) === key)
    return { form: "value", features: NO_FEATURES };
  if (node.kind === "macro") {
    const [variable] = node.variables;
    const [body] = node.bodies;
    const { macro } = node;
    if (macro !== "exists" && macro !== "all") return undefined;
    if (node.variables.length !== 1 || variable === undefined || body === undefined)
      return undefined;
    const elements = isSubject(node.range) ? elementFeatures(body, variable.name) : undefined;
    return elements && { form: macro, features: { ...NO_FEATURES, elements } };
  }
  const [element, owner] = node.kind === "call" && node.name === "in" ? node.args : [];
  if (element !== undefined && owner !== undefined && isSubject(owner)) {
    const elements = textOf(element) === undefined ? undefined : equalTo(element);
    return elements && { form: "exists", features: { ...NO_FEATURES, elements } };
  }
  const features = valueFeatures(node, (each) => isSubject(withoutDefault(each)));
  return features && { form: "value", features };
}

/** Unwraps `default(a, "x")`, which is `a` with a constant instead of an error. */
function withoutDefault(node: Node): Node {
  if (node.kind !== "call" || node.name !== "default" || node.isMethod) return node;
  const [value = node, fallback] = node.args;
  return fallback?.kind === "literal" ? value : node;
}

/** Returns the features of a macro's body; `undefined` if it tests more than the element. */
function elementFeatures(body: Node, name: string): ValueFeatures | undefined {
  const isElement = (each: Node): boolean => each.kind === "name" && each.name === name;
  const joined = (parts: readonly Node[]): ValueFeatures | undefined => {
    const found = parts.flatMap((part) => elementFeatures(part, name) ?? []);
    return found.length === parts.length ? joinFeatures(found) : undefined;
  };
  if (body.kind === "logical") return joined(body.operands);
  if (body.kind === "call" && body.name === "!") return joined(body.args);
  if (body.kind === "literal") return body.literal.kind === "bool" ? NO_FEATURES : undefined;
  const features = valueFeatures(body, isElement);
  // An element may be a list itself, whose sizes are not classified.
  return features === undefined || features.sizes.size > 0 ? undefined : features;
}

/** Returns the features of a comparison or string test of the subject; `undefined` for anything else. */
function valueFeatures(node: Node, isSubject: (node: Node) => boolean): ValueFeatures | undefined {
  if (node.kind !== "call") return undefined;
  const [left, right] = node.args;
  if (left === undefined || right === undefined) return undefined;
  switch (node.name) {
    case "==":
    case "!=": {
      const [subject, constant] = constantOf(left) === undefined ? [left, right] : [right, left];
      if (isSubject(subject)) return equalTo(constant);
      return (
        foldedFeatures("==", subject, constant, isSubject) ??
        sizeFeatures(subject, constant, isSubject)
      );
    }
    case "<":
    case "<=":
    case ">":
    case ">=": {
      const [subject, constant] = numberOf(left) === undefined ? [left, right] : [right, left];
      const number = numberOf(constant);
      if (isSubject(subject) && number !== undefined) return numbers([number]);
      return sizeFeatures(subject, constant, isSubject);
    }
    case "in": {
      if (!isSubject(left) || right.kind !== "list") return undefined;
      const found = right.elements.flatMap((each) => equalTo(each) ?? []);
      return found.length === right.elements.length ? joinFeatures(found) : undefined;
    }
    case "startsWith":
    case "endsWith":
    case "contains":
    case "matches": {
      const text = textOf(right);
      if (text === undefined) return undefined;
      if (isSubject(left)) return strings([{ kind: node.name, text }]);
      return node.name === "matches"
        ? undefined
        : foldedFeatures(node.name, left, right, isSubject);
    }
    case "containsIP": {
      const network =
        left.kind === "call" && left.name === "cidr" ? textOf(left.args[0]) : undefined;
      const address = right.kind === "call" && right.name === "ip" ? right.args[0] : right;
      if (network === undefined || !NETWORK.test(network)) return undefined;
      if (address === undefined || !isSubject(address)) return undefined;
      return { ...NO_FEATURES, networks: new Set([network]) };
    }
    default:
      return undefined;
  }
}

/** Matches a network whose bits can be read here, which excludes IPv4-mapped IPv6. */
const NETWORK = /^(?:\d+(?:\.\d+){3}|[0-9a-fA-F:]+)\/\d+$/;

/** Converts `a.lowerAscii() == "x"` and similar to a pattern that ignores ASCII case. */
function foldedFeatures(
  comparison: "==" | "startsWith" | "endsWith" | "contains",
  subject: Node,
  constant: Node,
  isSubject: (node: Node) => boolean,
): ValueFeatures | undefined {
  const text = textOf(constant);
  if (text === undefined || subject.kind !== "call") return undefined;
  const [inner] = subject.args;
  const isLower = subject.name === "lowerAscii";
  if (!(isLower || subject.name === "upperAscii") || inner === undefined || !isSubject(inner))
    return undefined;
  const pattern = [...text].map((each) => foldedPattern(each, isLower)).join("");
  const start = comparison === "==" || comparison === "startsWith" ? "^" : "";
  const end = comparison === "==" || comparison === "endsWith" ? "$" : "";
  return strings([{ kind: "matches", text: `${start}${pattern}${end}` }]);
}

/** Returns the pattern of a character in a lowercased (or uppercased) string, which never has characters of the other case. */
function foldedPattern(character: string, isLower: boolean): string {
  const other = isLower ? character.toUpperCase() : character.toLowerCase();
  const [possible, impossible] = isLower ? [/[a-z]/, /[A-Z]/] : [/[A-Z]/, /[a-z]/];
  if (possible.test(character)) return `[${character}${other}]`;
  if (impossible.test(character)) return NOTHING;
  return literalPattern(character);
}

const NOTHING = "[^\\x00-\\x{10FFFF}]";

/** Maximum size that is classified: examples of this size are created and evaluated. */
const MAX_SIZE = 5_000;

/** Returns the features of `size(a) > 2`: characters of a string, elements of a list or map. */
function sizeFeatures(
  call: Node,
  constant: Node,
  isSubject: (node: Node) => boolean,
): ValueFeatures | undefined {
  const size = numberOf(constant);
  const [subject] = call.kind === "call" && call.name === "size" ? call.args : [];
  if (subject === undefined || !isSubject(subject) || size === undefined) return undefined;
  if (!Number.isInteger(size) || size < 0 || size > MAX_SIZE) return undefined;
  const features = strings(
    [size, size + 1].map((each) => ({ kind: "isAsLongAs", text: String(each) })),
  );
  return { ...features, sizes: new Set([size]) };
}

/** Returns the features of equality with a constant; `undefined` if it is not a scalar constant. */
function equalTo(node: Node): ValueFeatures | undefined {
  const text = textOf(node);
  if (text !== undefined) return strings([{ kind: "equals", text }]);
  const number = numberOf(node);
  if (number !== undefined) return numbers([number]);
  const kind = node.kind === "literal" ? node.literal.kind : undefined;
  return kind === "bool" || kind === "null" ? NO_FEATURES : undefined;
}

function strings(features: readonly StringFeature[]): ValueFeatures {
  return { ...NO_FEATURES, strings: new Map(features.map((each) => [featureKey(each), each])) };
}

function numbers(values: readonly number[]): ValueFeatures {
  return { ...NO_FEATURES, numbers: new Set(values) };
}

function constantOf(node: Node): LiteralNode | number | undefined {
  return node.kind === "literal" ? node : numberOf(node);
}

function textOf(node: Node | undefined): string | undefined {
  return node?.kind === "literal" && node.literal.kind === "string"
    ? node.literal.value
    : undefined;
}

/** Returns a literal number; `undefined` for integers that a double cannot hold exactly. */
function numberOf(node: Node | undefined): number | undefined {
  if (node?.kind === "call" && node.name === "-" && node.args.length === 1) {
    const number = numberOf(node.args[0]);
    return number === undefined ? undefined : -number;
  }
  if (node?.kind !== "literal") return undefined;
  const { literal } = node;
  if (literal.kind === "double") return literal.value;
  if (literal.kind !== "int" && literal.kind !== "uint") return undefined;
  const number = Number(literal.value);
  return Number.isSafeInteger(number) ? number : undefined;
}
