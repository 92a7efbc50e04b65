import { doubleOf, entriesOf, kindOf, numberOf, quote, toText, typeNameOf } from "./run-code.ts";

/** Formats a value as a CEL literal: `"a"`, `1u`, `[1, 2.0]`, `{"a": b"\x00"}`, `timestamp("…")`. */
export function writeValue(value: unknown): string {
  const kind = kindOf(value);
  switch (kind) {
    case "string":
      return quote(value) ?? "";
    case "int":
      return String(value);
    case "uint":
      return `${numberOf(value)}u`;
    case "double":
      return writeDouble(doubleOf(value) ?? Number.NaN);
    case "bytes":
      return value instanceof Uint8Array ? writeBytes(value) : "";
    case "list":
      return Array.isArray(value) ? `[${value.map(writeValue).join(", ")}]` : "";
    case "map":
      return writeMap(value);
    case "type":
      return nameOf(value);
    case "optional":
      return writeOptional(value);
    case "timestamp":
    case "duration":
    case "ip":
    case "cidr":
      return `${kind}(${quote(toText(value)) ?? ""})`;
    default:
      return String(value);
  }
}

/** Converts a value to JSON; see `Evaluation.json`. */
export function toJsonValue(value: unknown): unknown {
  const kind = kindOf(value);
  switch (kind) {
    case "int":
    case "uint": {
      const exact = numberOf(value);
      return typeof exact === "bigint" ? String(exact) : exact;
    }
    case "double": {
      const number = doubleOf(value) ?? Number.NaN;
      return Number.isFinite(number) ? number : String(number);
    }
    case "bytes":
      return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : null;
    case "list":
      return Array.isArray(value) ? value.map(toJsonValue) : [];
    case "map":
      return Object.fromEntries(
        [...(entriesOf(value) ?? [])].map(([key, content]) => [keyText(key), toJsonValue(content)]),
      );
    case "null":
    case "bool":
    case "string":
      return value;
    case "type":
      return nameOf(value);
    case "optional":
      return optionalContent(value) === undefined ? null : toJsonValue(optionalContent(value));
    default:
      return toText(value) ?? null;
  }
}

function writeDouble(number: number): string {
  if (!Number.isFinite(number))
    return `double("${Number.isNaN(number) ? "NaN" : number > 0 ? "Inf" : "-Inf"}")`;
  const text = Object.is(number, -0) ? "-0" : String(number);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

function writeBytes(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `b"${text}"`;
}

function writeMap(map: unknown): string {
  const entries = [...(entriesOf(map) ?? [])];
  return `{${entries.map(([key, value]) => `${writeValue(key)}: ${writeValue(value)}`).join(", ")}}`;
}

function writeOptional(optional: unknown): string {
  const content = optionalContent(optional);
  return content === undefined ? "optional.none()" : `optional.of(${writeValue(content)})`;
}

function optionalContent(optional: unknown): unknown {
  return typeof optional === "object" && optional !== null && "content" in optional
    ? optional.content
    : undefined;
}

function nameOf(type: unknown): string {
  return typeof type === "object" && type !== null && "name" in type
    ? String(type.name)
    : typeNameOf(type);
}

function keyText(key: unknown): string {
  return typeof key === "string" ? key : (toText(key) ?? "");
}
