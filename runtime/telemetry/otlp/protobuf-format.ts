import { char, field, negative, tag, utf8, varint } from "../../grpc/encoded-fields.ts";
import { framePrefix } from "../../grpc/frames.ts";
import { shortened } from "../logs/log-line.ts";
import type { ItemBuffer } from "./item-buffer.ts";
import type { AttributeFormat, AttributeOwner, OtlpFormat } from "./otlp-format.ts";

/** OTLP's protobuf (opentelemetry-proto 1) as gRPC carries it: the numbers are those of its fields. */
export function otlpProtobuf(): OtlpFormat {
  return {
    attributes: (owner) => attributeFormats[owner],
    span: (items, head, name, kind, end, attributes, error) => {
      const { traceId, spanId, parentId, flags, start } = head;
      const named = field(5, utf8(name));
      const failure = error === undefined ? "" : `${field(2, utf8(error))}\x18\x02`;
      const status = error === undefined ? "" : field(15, failure);
      const parentLength = parentId === undefined ? 0 : 10;
      const length = 54 + parentLength + named.length + attributes.length + status.length;
      items.text(`\x12${varint(length)}\x0a\x10`);
      addBytes(items, traceId);
      items.text("\x12\x08");
      addBytes(items, spanId);
      if (parentId !== undefined) {
        items.text("\x22\x08");
        addBytes(items, parentId);
      }
      items.text(named);
      items.text(`\x30${char(kind)}\x39`);
      items.text(nanoseconds(start));
      items.byte(0x41);
      items.text(nanoseconds(end));
      attributes.writeTo(items);
      items.text(`${status}\x85\x01`);
      addBytes(items, flags);
      items.text("\0\0\0");
    },
    logRecord: (items, time, body, attributes, traceId, spanId) => {
      const before = `\x09${nanoseconds(time)}\x10\x09${field(3, "INFO")}${field(5, field(1, utf8(body)))}`;
      const behind = (traceId === undefined ? 0 : 18) + (spanId === undefined ? 0 : 10);
      items.text(`\x12${varint(before.length + attributes.length + behind)}${before}`);
      attributes.writeTo(items);
      if (traceId !== undefined) {
        items.text("\x4a\x10");
        addBytes(items, traceId);
      }
      if (spanId !== undefined) {
        items.text("\x52\x08");
        addBytes(items, spanId);
      }
    },
    envelope: (_signal, resource) => {
      const scope = field(1, field(1, "gwc"));
      const described = field(1, resource);
      return {
        room: described.length + scope.length + lengthsAndTags,
        around: (items) => {
          const scopes = `${tag(2)}${varint(scope.length + items.length)}${scope}`;
          const length = described.length + scopes.length + items.length;
          const open = `${tag(1)}${varint(length)}${described}${scopes}`;
          return items.between(framePrefix(open.length + items.length) + open, "");
        },
      };
    },
  };
}

/** Of the frame, of its message and of the scope, with lengths of up to five bytes. */
const lengthsAndTags = 5 + 2 * 6;

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

/** Adds what hex digits stand for. */
function addBytes(items: ItemBuffer, hex: string): void {
  for (let i = 0; i < hex.length; i += 2) {
    items.byte((nibble(hex.charCodeAt(i)) << 4) | nibble(hex.charCodeAt(i + 1)));
  }
}

/** Of a digit, or of a lower-case letter. */
function nibble(code: number): number {
  return code < 58 ? code - 48 : code - 87;
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
