import { jsonValue, shortened } from "../logs/log-line.ts";
import { NanosecondText } from "./nanoseconds.ts";
import type { AttributeFormat, OtlpFormat } from "./otlp-format.ts";
import type { SpanKind } from "./span-head.ts";

/** OTLP's JSON (protobuf's, but for ids, which are hex): 64-bit integers as text, enums as numbers. */
export function otlpJson(): OtlpFormat {
  const descriptions: Readonly<Record<SpanKind, Map<string, Buffer>>> = {
    2: new Map(),
    3: new Map(),
  };
  const times = new NanosecondText();
  return {
    attributes: () => attributeFormat,
    span: (items, head, name, kind, end, attributes, error) => {
      const { traceId, spanId, parentId, flags, start } = head;
      items.piece(parts.traceId);
      items.text(traceId);
      items.piece(parts.spanId);
      items.text(spanId);
      if (parentId !== undefined) {
        items.piece(parts.parentId);
        items.text(parentId);
      }
      items.piece(described(descriptions[kind], name, kind, flags));
      items.text(times.format(start));
      items.piece(parts.end);
      items.text(times.format(end));
      items.piece(parts.attributes);
      attributes.writeTo(items);
      if (error === undefined) items.piece(parts.allWell);
      else items.text(`],"status":{"code":2,"message":${quoted(error)}}}`);
    },
    logRecord: (items, time, body, attributes, traceId, spanId) => {
      items.text(
        `,{"timeUnixNano":"${times.format(time)}","severityNumber":9,"severityText":"INFO",` +
          `"body":{"stringValue":"${body}"},"attributes":[`,
      );
      attributes.writeTo(items);
      const trace = traceId === undefined ? "" : `,"traceId":"${traceId}"`;
      const span = spanId === undefined ? "" : `,"spanId":"${spanId}"`;
      items.text(`]${trace}${span}}`);
    },
    envelope: ({ resources, scopes, items: name }, resource) => {
      const described = `{"attributes":[${resource}]}`;
      const open = `{"${resources}":[{"resource":${described},"${scopes}":[{"scope":{"name":"gwc"},"${name}":[`;
      // Every item has a comma before it.
      return { room: open.length, around: (items) => items.between(open, "]}]}]}", 1) };
    },
  };
}

/** What stands between the values of a span. */
const parts = {
  traceId: Buffer.from(',{"traceId":"'),
  spanId: Buffer.from('","spanId":"'),
  parentId: Buffer.from('","parentSpanId":"'),
  end: Buffer.from('","endTimeUnixNano":"'),
  attributes: Buffer.from('","attributes":['),
  allWell: Buffer.from('],"status":{}}'),
};

const attributeFormat: AttributeFormat = {
  separator: ",",
  text: (name, value) => attribute(name, `"stringValue":${quoted(shortened(value))}`),
  number: (name, value) => attribute(name, numberValue(value)),
  boolean: (name, value) => attribute(name, `"boolValue":${value}`),
  list: (name, values) => {
    const texts = values.map((text) => `{"stringValue":${quoted(shortened(text))}}`);
    return attribute(name, `"arrayValue":{"values":[${texts.join(",")}]}`);
  },
};

function attribute(name: string, value: string): string {
  return `{"key":"${name}","value":{${value}}}`;
}

/** JSON has no numbers for infinity and the like; protobuf's JSON writes them as text. */
function numberValue(value: number): string {
  if (Number.isSafeInteger(value)) return `"intValue":"${value}"`;
  return `"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}`;
}

/** Names of spans that are kept as they are written: most have one of few. */
const mostKept = 256;

/** What is the same for many spans, up to the time of its beginning. */
function described(kept: Map<string, Buffer>, name: string, kind: SpanKind, flags: string): Buffer {
  const isRecorded = flags === "01";
  const known = isRecorded ? kept.get(name) : undefined;
  if (known !== undefined) return known;
  const number = Number.parseInt(flags, 16);
  const made = Buffer.from(
    `","flags":${number},"name":${quoted(name)},"kind":${kind},"startTimeUnixNano":"`,
  );
  if (isRecorded && kept.size < mostKept) kept.set(name, made);
  return made;
}

/** A JSON string of ASCII alone. */
function quoted(value: string): string {
  const json = jsonValue(value);
  return ascii.test(json) ? json : json.replace(beyond, escaped);
}

const ascii = /^[\x20-\x7e]*$/;
const beyond = /[^\x20-\x7e]/g;

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
