import type { FieldWriter } from "../field-writer.ts";
import { jsonValue, type LogFormat, shortened, TimeText, textValue, visible } from "./log-line.ts";
import { RepeatedFields } from "./repeated-fields.ts";

/** A line of the access log under construction. */
export interface AccessLogLine extends FieldWriter {
  /** Starts a new line. */
  begin(): void;
  /** The line, ended by a line feed. */
  end(): string;
}

/** The lines of a format; one is made at a time. `scope`: the part of the log that they are of. */
export function accessLogLine(
  format: LogFormat,
  scope: "request" | "audit" = "request",
): AccessLogLine {
  return format === "json" ? new JsonLine(scope) : new TextLine(scope);
}

/** `TIME<TAB>info<TAB>request name=value ...` */
class TextLine implements AccessLogLine {
  readonly #scope: string;
  readonly #time = new TimeText();
  readonly #repeated = new RepeatedFields((name, value) => [" ", name, "=", textValue(value)]);
  #line = "";

  constructor(scope: string) {
    this.#scope = scope;
  }

  begin(): void {
    this.#line = `${this.#time.format(Date.now())}\tinfo\t${this.#scope}`;
  }

  text(name: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#line += this.#repeated.text(name, value) ?? ` ${name}=${textValue(shortened(value))}`;
  }

  plain(name: string, value: string): void {
    this.#line += ` ${name}=${value}`;
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined) this.#line += ` ${name}=${value}`;
  }

  json(name: string, value: string): void {
    if (IS_WORD.test(value)) this.#line += ` ${name}=${value}`;
    else this.text(name, value);
  }

  end(): string {
    return `${this.#line}\n`;
  }
}

/** A number, true, false, null. */
const IS_WORD = /^[\w.+-]+$/;

/** One object a line, the same names. */
class JsonLine implements AccessLogLine {
  readonly #scope: string;
  readonly #time = new TimeText();
  readonly #repeated = new RepeatedFields((name, value) => [',"', name, '":', jsonValue(value)]);
  #line = "";

  constructor(scope: string) {
    this.#scope = scope;
  }

  begin(): void {
    this.#line = `{"level":"info","time":"${this.#time.format(Date.now())}","scope":"${this.#scope}"`;
  }

  text(name: string, value: string | undefined): void {
    if (value === undefined) return;
    this.#line += this.#repeated.text(name, value) ?? `,"${name}":${jsonValue(shortened(value))}`;
  }

  plain(name: string, value: string): void {
    this.#line += `,"${name}":"${value}"`;
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined) this.#line += `,"${name}":${value}`;
  }

  json(name: string, value: string): void {
    // A part of an object is none.
    if (shortened(value) !== value) this.text(name, value);
    else this.#line += `,"${name}":${visible(value)}`;
  }

  end(): string {
    return `${this.#line}}\n`;
  }
}
