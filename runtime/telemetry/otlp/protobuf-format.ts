import { char, field, negative, tag, utf8, varint } from "../../grpc/encoded-fields.ts";
import { shortened } from "../logs/log-line.ts";
import { type ItemBuffer, unpooledBytes } from "./item-buffer.ts";
import type { AttributeFormat, AttributeOwner, OtlpFormat } from "./otlp-format.ts";
import { type SpanForm, SpanForms } from "./span-forms.ts";
import type { SpanHead, SpanKind } from "./span-head.ts";

/**
 * OTLP's protobuf encoding (opentelemetry-proto 1); the numbers are field numbers. `prefix`: returns what precedes a message
 * of a length, such as the prefix of a frame of gRPC.
 */
export function otlpProtobuf(prefix: (length: number) => string): OtlpFormat {
  const forms = new SpanForms(spanForm);
  return {
    attributes: (owner) => attributeFormats[owner],
    span: (items, head, name, kind, ended, attributes, error) => {
      const { traceId, spanId, parentId, start, link } = head;
      const form = forms.of(head, name, kind);
      const end =
        (link === undefined ? "" : linkOf(link)) + (error === undefined ? "" : statusOf(error));
      const length = form.bytes.length + attributes.length + end.length;
      items.byte(0x12);
      items.varint(length);
      const at = attributes.writeBetween(items, form.bytes, nothing);
      items.put(at + places.traceId, traceId.bytes, traceId.at / 2, 16);
      items.put(at + places.spanId, spanId.bytes, spanId.at / 2, 8);
      if (parentId !== undefined) {
        items.put(at + places.parentId, parentId.bytes, parentId.at / 2, 8);
      }
      putNanoseconds(items, at + form.start, start);
      putNanoseconds(items, at + form.end, ended);
      items.text(end);
    },
    logRecord: (items, { time, about, traceId, spanId }, attributes) => {
      const what =
        "body" in about ? field(5, field(1, utf8(about.body))) : field(12, utf8(about.event));
      const before = `\x10\x09${field(3, "INFO")}${what}`;
      const trace = traceId === undefined ? "" : field(9, bytesOf(traceId));
      const span = spanId === undefined ? "" : field(10, bytesOf(spanId));
      const length = 9 + before.length + attributes.length + trace.length + span.length;
      items.byte(0x12);
      items.varint(length);
      items.byte(0x09);
      putNanoseconds(items, items.piece(noTime), time);
      items.text(before);
      attributes.writeTo(items);
      items.text(trace + span);
    },
    envelope: (_signal, resource) => {
      const scope = field(1, field(1, "gwc"));
      const described = field(1, resource);
      return {
        room: described.length + scope.length + LENGTHS_AND_TAGS,
        around: (items) => {
          const scopes = `${tag(2)}${varint(scope.length + items.length)}${scope}`;
          const length = described.length + scopes.length + items.length;
          const open = `${tag(1)}${varint(length)}${described}${scopes}`;
          return items.between(prefix(open.length + items.length) + open, "");
        },
      };
    },
  };
}

/** Builds a span up to its attributes. */
function spanForm(name: string, kind: SpanKind, flags: string, isPart: boolean): SpanForm {
  const parent = isPart ? `\x22\x08${eightBytes}` : "";
  const ids = `\x0a\x10${eightBytes}${eightBytes}\x12\x08${eightBytes}${parent}`;
  const flag = char(Number.parseInt(flags, 16));
  const open = `${ids}${field(5, utf8(name))}\x30${char(kind)}\x85\x01${flag}\0\0\0\x39`;
  const between = `${open}${eightBytes}\x41`;
  const bytes = unpooledBytes(Buffer.from(`${between}${eightBytes}`, "latin1"));
  return { bytes, start: open.length, end: between.length };
}

/** A placeholder for an id or a time. */
const eightBytes = "\0".repeat(8);
const noTime = Buffer.alloc(8);
const nothing = Buffer.alloc(0);

/** The offsets of a span's ids in its form. */
const places = { traceId: 2, spanId: 20, parentId: 30 };

function linkOf({ traceId, spanId }: NonNullable<SpanHead["link"]>): string {
  return field(13, field(1, bytesOf(traceId)) + field(2, bytesOf(spanId)));
}

function statusOf(error: string): string {
  return field(15, `${field(2, utf8(error))}\x18\x02`);
}

/** Bytes of the frame, and of the tags and lengths (up to five bytes) of its message and scope. */
const LENGTHS_AND_TAGS = 5 + 2 * 6;

const attributeFormats: Readonly<Record<AttributeOwner, AttributeFormat>> = {
  resource: attributeFormat(1),
  span: attributeFormat(9),
  logRecord: attributeFormat(6),
};

/** Returns the format of attributes in the field with this number. */
function attributeFormat(number: number): AttributeFormat {
  const attribute = (name: string, value: string) =>
    field(number, field(1, utf8(name)) + field(2, value));
  return {
    separator: "",
    text: (name, value) => attribute(name, field(1, utf8(shortened(value)))),
    content: (name, value) => attribute(name, field(1, utf8(value))),
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

/** Decodes hex digits. */
function bytesOf(hex: string): string {
  return Buffer.from(hex, "hex").toString("latin1");
}

/** Overwrites eight bytes with a time; microseconds are exact, the rest are zeros. */
function putNanoseconds(items: ItemBuffer, at: number, milliseconds: number): void {
  const microseconds = Math.floor(milliseconds * 1000);
  const upper = Math.floor(microseconds / 2 ** 32);
  const lower = (microseconds - upper * 2 ** 32) * 1000;
  const carried = Math.floor(lower / 2 ** 32);
  items.putWord(at, lower - carried * 2 ** 32);
  items.putWord(at + 4, upper * 1000 + carried);
}
