import { frameOf } from "../../grpc/frames.ts";
import { shortened } from "../logs/log-line.ts";
import type { AttributeFormat, AttributeOwner, OtlpFormat } from "./otlp-format.ts";

/** OTLP's protobuf (opentelemetry-proto 1) as gRPC carries it: the numbers are those of its fields. */
export function otlpProtobuf(): OtlpFormat {
  return {
    attributes: (owner) => attributeFormats[owner],
    span: ({ traceId, spanId, parentId, flags, start }, name, kind, end, attributes, error) => {
      const ids = bytesOf(`${traceId}${spanId}${flags}${parentId ?? ""}`);
      const parent = parentId === undefined ? "" : `\x22\x08${ids.slice(25)}`;
      const failure = error === undefined ? "" : `${field(2, utf8(error))}\x18\x02`;
      const status = error === undefined ? "" : field(15, failure);
      return field(
        2,
        `\x0a\x10${ids.slice(0, 16)}\x12\x08${ids.slice(16, 24)}${parent}${field(5, utf8(name))}` +
          `\x30${char(kind)}\x39${nanoseconds(start)}\x41${nanoseconds(end)}` +
          `${attributes}${status}\x85\x01${ids[24]}\0\0\0`,
      );
    },
    logRecord: (time, body, attributes, traceId, spanId) => {
      const trace = traceId === undefined ? "" : `\x4a\x10${bytesOf(traceId)}`;
      const span = spanId === undefined ? "" : `\x52\x08${bytesOf(spanId)}`;
      const text = field(5, field(1, utf8(body)));
      return field(
        2,
        `\x09${nanoseconds(time)}\x10\x09${field(3, "INFO")}${text}${attributes}${trace}${span}`,
      );
    },
    request: (_signal, resource, items) => {
      const scope = field(1, field(1, "gwc"));
      const scopes = `${tag(2)}${varint(scope.length + items.length)}${scope}`;
      const described = field(1, resource);
      const length = described.length + scopes.length + items.length;
      const open = Buffer.from(`${tag(1)}${varint(length)}${described}${scopes}`, "latin1");
      return frameOf(open, items);
    },
  };
}

const attributeFormats: Readonly<Record<AttributeOwner, AttributeFormat>> = {
  resource: attributeFormat(1),
  span: attributeFormat(9),
  logRecord: attributeFormat(6),
};

/** `number`: that of the field with attributes in what has them. */
function attributeFormat(number: number): AttributeFormat {
  const attribute = (name: string, value: string) =>
    field(number, field(1, utf8(name)) + field(2, value));
  return {
    separator: "",
    text: (name, value) => attribute(name, field(1, utf8(shortened(value)))),
    number: (name, value) => attribute(name, numberValue(value)),
    boolean: (name, value) => attribute(name, value ? "\x10\x01" : "\x10\x00"),
    list: (name, values) => {
      const texts = values.map((text) => field(1, field(1, utf8(shortened(text)))));
      return attribute(name, field(5, texts.join("")));
    },
  };
}

function numberValue(value: number): string {
  if (!Number.isSafeInteger(value)) {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return `\x21${bytes.toString("latin1")}`;
  }
  return `\x18${value < 0 ? negative(value) : varint(value)}`;
}

/** Two's complement in 64 bits. */
function negative(value: number): string {
  let rest = BigInt.asUintN(64, BigInt(value));
  let text = "";
  for (; rest > 127n; rest >>= 7n) text += char(Number(rest & 127n) | 128);
  return text + char(Number(rest));
}

/** A field whose value has a length. */
function field(number: number, value: string): string {
  return `${tag(number)}${varint(value.length)}${value}`;
}

function tag(number: number): string {
  return varint(number * 8 + 2);
}

function varint(value: number): string {
  if (value < 128) return char(value);
  return char((value % 128) | 128) + varint(Math.floor(value / 128));
}

/** The bytes of a text in UTF-8. */
function utf8(value: string): string {
  return ascii.test(value) ? value : Buffer.from(value).toString("latin1");
}

const ascii = /^[\x00-\x7f]*$/;

/** Ids as bytes, for as long as they are read. */
const scratch = Buffer.alloc(64);

/** What hex digits stand for. */
function bytesOf(hex: string): string {
  return scratch.toString("latin1", 0, scratch.write(hex, "hex"));
}

/** A time of so many milliseconds, with fractions, in 64 bits; microseconds are exact, and the rest are zeros. */
function nanoseconds(milliseconds: number): string {
  const microseconds = Math.floor(milliseconds * 1000);
  const upper = Math.floor(microseconds / 2 ** 32);
  const lower = (microseconds % 2 ** 32) * 1000;
  return word(lower % 2 ** 32) + word(upper * 1000 + Math.floor(lower / 2 ** 32));
}

/** 32 bits, the lowest first. */
function word(value: number): string {
  const bits = value | 0;
  return String.fromCharCode(bits & 255, (bits >>> 8) & 255, (bits >>> 16) & 255, bits >>> 24);
}

function char(byte: number): string {
  return String.fromCharCode(byte);
}
