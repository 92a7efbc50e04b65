import { addPlace, type FieldWriter, type RequestPlace } from "../field-writer.ts";
import { jsonValue, type LogFormat, shortened, TimeText, textValue, visible } from "./log-line.ts";

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
  #line = "";
  /** Of the last line: mostly the next one's is the same. */
  #place: RequestPlace | undefined;
  #placeText = "";

  constructor(scope: string) {
    this.#scope = scope;
  }

  begin(): void {
    this.#line = `${this.#time.format(Date.now())}\tinfo\t${this.#scope}`;
  }

  place(record: RequestPlace): void {
    if (!isSamePlace(record, this.#place)) {
      const line = this.#line;
      this.#line = "";
      addPlace(this, record);
      const { listener, route, upstream } = record;
      this.#place = { listener, route, upstream };
      // In one piece.
      this.#placeText = Buffer.from(this.#line).toString();
      this.#line = line;
    }
    this.#line += this.#placeText;
  }

  text(name: string, value: string | undefined): void {
    if (value !== undefined) this.#line += ` ${name}=${textValue(shortened(value))}`;
  }

  plain(name: string, value: string): void {
    this.#line += ` ${name}=${value}`;
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined) this.#line += ` ${name}=${value}`;
  }

  json(name: string, value: string): void {
    if (isWord.test(value)) this.#line += ` ${name}=${value}`;
    else this.text(name, value);
  }

  end(): string {
    return `${this.#line}\n`;
  }
}

function isSamePlace(one: RequestPlace, other: RequestPlace | undefined): boolean {
  return (
    one.route === other?.route &&
    one.upstream === other?.upstream &&
    one.listener === other?.listener
  );
}

/** A number, true, false, null. */
const isWord = /^[\w.+-]+$/;

/** One object a line, the same names. */
class JsonLine implements AccessLogLine {
  readonly #scope: string;
  readonly #time = new TimeText();
  #line = "";

  constructor(scope: string) {
    this.#scope = scope;
  }

  begin(): void {
    this.#line = `{"level":"info","time":"${this.#time.format(Date.now())}","scope":"${this.#scope}"`;
  }

  place(record: RequestPlace): void {
    addPlace(this, record);
  }

  text(name: string, value: string | undefined): void {
    if (value !== undefined) this.#line += `,"${name}":${jsonValue(shortened(value))}`;
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
