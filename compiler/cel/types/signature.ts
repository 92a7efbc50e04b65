import {
  BOOL,
  BYTES,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  TIMESTAMP,
  type Type,
  typeOf,
  UINT,
} from "./types.ts";

/** An overload of a function: its parameter and result types. The receiver of a method is the first parameter. */
export interface Overload {
  readonly signature: string;
  readonly isMethod: boolean;
  readonly params: readonly Type[];
  readonly result: Type;
}

const NAMES: Readonly<Record<string, Type>> = {
  bool: BOOL,
  int: INT,
  uint: UINT,
  double: DOUBLE,
  string: STRING,
  bytes: BYTES,
  null: NULL,
  timestamp: TIMESTAMP,
  duration: DURATION,
  dyn: DYN,
  ip: { kind: "opaque", name: "ip" },
  cidr: { kind: "opaque", name: "cidr" },
};

/**
 * Parses the signature of a function: `startsWith` has `string.startsWith(string): bool`; `math.abs`, whose name has a
 * namespace, `math.abs(int): int`. A single capital letter is a type parameter.
 */
export function parseSignature(signature: string, name: string): Overload {
  const match = /^(?:(.+)\.)?(\w+)\(([^:]*)\): (.+)$/.exec(signature);
  if (match === null) throw new Error(`unreadable signature "${signature}"`);
  const [, before, , list = "", result = ""] = match;
  const receiver = name.includes(".") ? undefined : before;
  const params = splitList(list).map(parseType);
  return {
    signature,
    isMethod: receiver !== undefined,
    params: receiver === undefined ? params : [parseType(receiver), ...params],
    result: parseType(result),
  };
}

/** Parses a type in a signature. */
export function parseType(text: string): Type {
  const known = NAMES[text];
  if (known !== undefined) return known;
  if (/^[A-Z]$/.test(text)) return { kind: "param", name: text };
  const match = /^(list|map|optional|type)\((.*)\)$/.exec(text);
  if (match === null) throw new Error(`unknown type "${text}"`);
  const [first = DYN, second = DYN] = splitList(match[2] ?? "").map(parseType);
  switch (match[1]) {
    case "list":
      return listOf(first);
    case "map":
      return mapOf(first, second);
    case "optional":
      return optionalOf(first);
    default:
      return typeOf(first);
  }
}

/** Splits at commas outside parentheses. */
function splitList(text: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    else if ((char === "," && depth === 0) || at === text.length) {
      const part = text.slice(start, at).trim();
      if (part !== "") parts.push(part);
      start = at + 1;
    }
  }
  return parts;
}

/** Types by name; the names are values in CEL. */
export const typeNames: ReadonlyMap<string, Type> = new Map([
  ["bool", BOOL],
  ["int", INT],
  ["uint", UINT],
  ["double", DOUBLE],
  ["string", STRING],
  ["bytes", BYTES],
  ["list", listOf(DYN)],
  ["map", mapOf(DYN, DYN)],
  ["null_type", NULL],
  ["type", { kind: "opaque", name: "type" }],
  ["optional_type", optionalOf(DYN)],
  ["google.protobuf.Timestamp", TIMESTAMP],
  ["google.protobuf.Duration", DURATION],
  ["net.IP", { kind: "opaque", name: "ip" }],
  ["net.CIDR", { kind: "opaque", name: "cidr" }],
]);
