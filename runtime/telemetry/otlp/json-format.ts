import { jsonValue, shortened } from "../logs/log-line.ts";
import { type ItemBuffer, unpooledBytes, viewOf } from "./item-buffer.ts";
import type { AttributeFormat, OtlpFormat } from "./otlp-format.ts";
import { type SpanForm, SpanForms } from "./span-forms.ts";
import type { SpanHead, SpanKind } from "./span-head.ts";

/** OTLP's JSON encoding: protobuf's, except that ids are hex. 64-bit integers are strings, enums are numbers. */
export function otlpJson(): OtlpFormat {
  const forms = new SpanForms(spanForm);
  const times = new NanosecondText();
  return {
    attributes: () => attributeFormat,
    span: (items, head, name, kind, end, attributes, error) => {
      const { traceId, spanId, parentId, start, link } = head;
      const form = forms.of(head, name, kind);
      const close = error === undefined && link === undefined ? allWell : nothing;
      const at = attributes.writeBetween(items, form.bytes, close);
      items.put(at + places.traceId, traceId.digits, traceId.at, 32);
      items.put(at + places.spanId, spanId.digits, spanId.at, 16);
      if (parentId !== undefined) {
        items.put(at + places.parentId, parentId.digits, parentId.at, 16);
      }
      times.put(items, at + form.start, start);
      times.put(items, at + form.end, end);
      if (close === nothing) items.text(`]${linksOf(link)},"status":${statusOf(error)}}`);
    },
    logRecord: (items, { time, about, traceId, spanId }, attributes) => {
      const what =
        "body" in about ? `"body":{"stringValue":"${about.body}"}` : `"eventName":"${about.event}"`;
      items.text(
        `,{"timeUnixNano":"${times.format(time)}","severityNumber":9,"severityText":"INFO",${what},"attributes":[`,
      );
      attributes.writeTo(items);
      const trace = traceId === undefined ? "" : `,"traceId":"${traceId}"`;
      const span = spanId === undefined ? "" : `,"spanId":"${spanId}"`;
      items.text(`]${trace}${span}}`);
    },
    envelope: ({ resources, scopes, items: name }, resource) => {
      const described = `{"attributes":[${resource}]}`;
      const open = `{"${resources}":[{"resource":${described},"${scopes}":[{"scope":{"name":"gwc"},"${name}":[`;
      // Every item starts with a comma, so the first one is overwritten.
      return { room: open.length, around: (items) => items.between(open, "]}]}]}", 1) };
    },
  };
}

/** The strings before the ids of a span, and the offsets of the ids in a form. */
const before = { traceId: ',{"traceId":"', spanId: '","spanId":"', parentId: '","parentSpanId":"' };
const places = {
  traceId: before.traceId.length,
  spanId: before.traceId.length + 32 + before.spanId.length,
  parentId: before.traceId.length + 32 + before.spanId.length + 16 + before.parentId.length,
};

/** The end of a span without an error. */
const allWell = Buffer.from('],"status":{}}');
const nothing = Buffer.alloc(0);

function statusOf(error: string | undefined): string {
  return error === undefined ? "{}" : `{"code":2,"message":${quoted(error)}}`;
}

function linksOf(link: SpanHead["link"]): string {
  if (link === undefined) return "";
  return `,"links":[{"traceId":"${link.traceId}","spanId":"${link.spanId}"}]`;
}

/** Builds a span up to its attributes. */
function spanForm(name: string, kind: SpanKind, flags: string, isPart: boolean): SpanForm {
  const parent = isPart ? before.parentId + " ".repeat(16) : "";
  const ids = `${before.traceId}${" ".repeat(32)}${before.spanId}${" ".repeat(16)}${parent}`;
  const number = Number.parseInt(flags, 16);
  const open = `${ids}","flags":${number},"name":${quoted(name)},"kind":${kind},"startTimeUnixNano":"`;
  const between = `${open}${noNanoseconds}","endTimeUnixNano":"`;
  const text = `${between}${noNanoseconds}","attributes":[`;
  const bytes = unpooledBytes(Buffer.from(text, "latin1"));
  return { bytes, start: open.length, end: between.length };
}

const attributeFormat: AttributeFormat = {
  separator: ",",
  text: (name, value) => attribute(name, `"stringValue":${quoted(shortened(value))}`),
  content: (name, value) => attribute(name, `"stringValue":${quoted(value)}`),
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

/** JSON cannot represent infinity and NaN as numbers; protobuf's JSON writes them as strings. */
function numberValue(value: number): string {
  if (Number.isSafeInteger(value)) return `"intValue":"${value}"`;
  return `"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}`;
}

/** Quotes a string as JSON in pure ASCII. */
function quoted(value: string): string {
  const json = jsonValue(value);
  return ASCII.test(json) ? json : json.replace(BEYOND, escaped);
}

const ASCII = /^[\x20-\x7e]*$/;
const BEYOND = /[^\x20-\x7e]/g;

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** A placeholder for a time: ten digits for the seconds and nine for the fraction. */
const noNanoseconds = "0".repeat(19);

/** Number of digits down to microseconds; the rest are zeros. */
const PUT_DIGITS = 16;

/**
 * Formats OTLP's times: nanoseconds since the epoch as decimal digits. Microseconds are exact within the precision of
 * numbers, the rest are zeros. The digits of a second are computed once.
 */
class NanosecondText {
  #second = -1;
  #text = "";
  readonly #digits = new Uint8Array(PUT_DIGITS);
  readonly #view = viewOf(this.#digits);

  /** Formats `milliseconds` since the epoch, with fractions. */
  format(milliseconds: number): string {
    const microseconds = this.#begin(milliseconds);
    // The additional leading digit keeps the zeros.
    return `${this.#text}${String(1_000_000 + microseconds).slice(1)}000`;
  }

  /** Writes the digits over `noNanoseconds`. */
  put(items: ItemBuffer, at: number, milliseconds: number): void {
    const digits = this.#digits;
    let rest = this.#begin(milliseconds) | 0;
    for (let i = PUT_DIGITS - 1; i >= PUT_DIGITS - 6; i--) {
      const tens = (rest / 10) | 0;
      digits[i] = ZERO + rest - tens * 10;
      rest = tens;
    }
    items.put(at, this.#view, 0, PUT_DIGITS);
  }

  /** Updates the digits of the second and returns the microseconds. */
  #begin(milliseconds: number): number {
    const second = Math.floor(milliseconds / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = String(second);
      this.#digits.set(Buffer.from(this.#text.padStart(PUT_DIGITS - 6, "0"), "latin1"));
    }
    return Math.floor((milliseconds - second * 1000) * 1000);
  }
}

const ZERO = 0x30;
