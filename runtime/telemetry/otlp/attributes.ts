import type { FieldWriter } from "../field-writer.ts";
import { jsonValue, shortened } from "../logs/log-line.ts";

/** Attributes as OTLP has them in JSON: each a key and a value of its type, 64-bit integers as text. */
export class OtlpAttributes implements FieldWriter {
  #json = "";

  text(name: string, value: string | undefined): void {
    if (value !== undefined) this.#add(name, `"stringValue":${jsonValue(shortened(value))}`);
  }

  plain(name: string, value: string): void {
    this.#add(name, `"stringValue":"${value}"`);
  }

  number(name: string, value: number | undefined): void {
    if (value === undefined) return;
    this.#add(name, Number.isSafeInteger(value) ? `"intValue":"${value}"` : doubleValue(value));
  }

  json(name: string, value: string): void {
    if (value === "true" || value === "false") this.#add(name, `"boolValue":${value}`);
    else if (isNumber.test(value)) this.number(name, Number(value));
    else if (value !== "null") this.text(name, value);
  }

  /** The list; it is empty again then. */
  take(): string {
    const json = this.#json;
    this.#json = "";
    return `[${json}]`;
  }

  #add(name: string, value: string): void {
    this.#json += `${this.#json === "" ? "" : ","}{"key":"${name}","value":{${value}}}`;
  }
}

/** A number of JSON. */
const isNumber = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** JSON has no numbers for these; protobuf's JSON writes them as text. */
function doubleValue(value: number): string {
  return `"doubleValue":${Number.isFinite(value) ? value : `"${value}"`}`;
}
