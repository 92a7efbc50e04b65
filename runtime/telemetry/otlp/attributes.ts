import type { FieldWriter } from "../field-writer.ts";
import { jsonValue, shortened } from "../logs/log-line.ts";

/** Values of one attribute that are kept as they are written, and the longest of them; other ones are written each time. */
const mostKept = 256;
const longestKept = 64;

/**
 * Attributes as they are written: most have few values (methods, routes, statuses), and a piece that is there already is
 * the cheapest to add.
 */
export class AttributeTexts {
  readonly #texts = new Map<string, Map<string, string>>();
  readonly #quoted = new Map<string, string>();
  readonly #numbers = new Map<string, Map<number, string>>();

  text(name: string, value: string): string {
    const kept = keptOf(this.#texts, name);
    const known = kept.get(value);
    if (known !== undefined) return known;
    const made = attribute(name, `"stringValue":${jsonValue(shortened(value))}`);
    if (kept.size < mostKept && value.length <= longestKept) kept.set(value, made);
    return made;
  }

  /** A text by itself, as a JSON string. */
  quoted(value: string): string {
    const known = this.#quoted.get(value);
    if (known !== undefined) return known;
    const made = jsonValue(value);
    if (this.#quoted.size < mostKept && value.length <= longestKept) this.#quoted.set(value, made);
    return made;
  }

  number(name: string, value: number): string {
    const kept = keptOf(this.#numbers, name);
    const known = kept.get(value);
    if (known !== undefined) return known;
    const made = attribute(name, numberValue(value));
    if (kept.size < mostKept) kept.set(value, made);
    return made;
  }
}

/** Attributes as OTLP has them in JSON: each a key and a value of its type, 64-bit integers as text. */
export class OtlpAttributes implements FieldWriter {
  readonly #texts: AttributeTexts;
  readonly #parts: string[] = [];

  constructor(texts: AttributeTexts) {
    this.#texts = texts;
  }

  text(name: string, value: string | undefined): void {
    if (value !== undefined) this.#parts.push(this.#texts.text(name, value));
  }

  plain(name: string, value: string): void {
    this.#parts.push(this.#texts.text(name, value));
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined) this.#parts.push(this.#texts.number(name, value));
  }

  json(name: string, value: string): void {
    if (value === "true" || value === "false")
      this.#parts.push(attribute(name, `"boolValue":${value}`));
    else if (isNumber.test(value)) this.number(name, Number(value));
    else if (isTexts.test(value)) this.#parts.push(attribute(name, listValue(value)));
    else if (value !== "null") this.text(name, value);
  }

  /** The list. */
  get list(): string {
    return `[${this.#parts.join(",")}]`;
  }
}

/** A list of JSON with nothing but texts in it. */
const isTexts = /^\[("(?:[^"\\]|\\.)*"(,"(?:[^"\\]|\\.)*")*)?\]$/;

/** A number of JSON. */
const isNumber = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

function keptOf<Value>(byName: Map<string, Map<Value, string>>, name: string): Map<Value, string> {
  let kept = byName.get(name);
  if (kept === undefined) {
    kept = new Map();
    byName.set(name, kept);
  }
  return kept;
}

function attribute(name: string, value: string): string {
  return `{"key":"${name}","value":{${value}}}`;
}

function listValue(json: string): string {
  const texts: readonly string[] = JSON.parse(json);
  const values = texts.map((text) => `{"stringValue":${jsonValue(shortened(text))}}`);
  return `"arrayValue":{"values":[${values.join(",")}]}`;
}

/** JSON has no numbers for infinity and the like; protobuf's JSON writes them as text. */
function numberValue(value: number): string {
  if (Number.isSafeInteger(value)) return `"intValue":"${value}"`;
  return `"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}`;
}
