import type { FieldWriter } from "../field-writer.ts";

/** How lines are written: `name=value` fields after a time, or one JSON object a line. */
export type LogFormat = "text" | "json";

/** Characters of a field's value: a client chooses paths and headers of some of them, and may choose them long. */
const MAX_VALUE = 4096;

/** A value, cut to the most that a field holds. */
export function shortened(value: string): string {
  return value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}...`;
}

/** A value as it stands after `name=` in a text line: quoted when it could be read as something else. */
export function textValue(value: string): string {
  return PLAIN.test(value) ? value : quoted(value);
}

/** Letters, digits and what paths, hosts and addresses are made of: nothing that could end the value. */
const PLAIN = /^[\w./:@%+,;~*()[\]{}?!$&'<>|^-]+$/;

/** JSON's quoting, and escapes for what a terminal or a line reader could take as more than text. */
function quoted(value: string): string {
  return visible(JSON.stringify(value));
}

/** JSON text in which nothing is invisible: such characters stand in its strings only, where an escape may too. */
export function visible(json: string): string {
  return json.replace(INVISIBLE, escaped);
}

/**
 * What a reader does not see, or what reorders text: controls above ASCII, format and tag characters, line separators,
 * fillers, variation selectors, lone surrogates.
 */
const INVISIBLE =
  /[\u{7f}-\u{9f}\u{ad}\u{61c}\u{115f}\u{1160}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{2800}\u{3164}\u{d800}-\u{dfff}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|\u{34f}|\u{17b4}|\u{17b5}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0000}-\u{e0fff}]/gu;

function escaped(character: string): string {
  let text = "";
  for (let at = 0; at < character.length; at++)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return text;
}

/** A JSON string. */
export function jsonValue(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : quoted(value);
}

/** Makes RFC 3339 times with milliseconds; a second's text is made once. */
export class TimeText {
  #second = -1;
  #text = "";

  /** `milliseconds` since the epoch. */
  format(milliseconds: number): string {
    const second = Math.floor(milliseconds / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(second * 1000).toISOString().slice(0, 20);
    }
    const rest = milliseconds - second * 1000;
    return `${this.#text}${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}Z`;
  }
}

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

/** Longer values are no name that the next line has again. */
const LONGEST = 64;

/** A field as a line had it last. */
interface RepeatedField {
  value: string;
  /** As it is written; undefined: nobody has asked for it a second time. */
  written: string | undefined;
}

/**
 * Fields of lines that mostly say the same as in the line before: a route, a model. What was written once is not looked at
 * again, and is one piece of the line.
 */
export class RepeatedFields {
  readonly #write: (name: string, value: string) => readonly string[];
  readonly #fields = new Map<string, RepeatedField>();

  /** `write`: the pieces of a field as it is written. */
  constructor(write: (name: string, value: string) => readonly string[]) {
    this.#write = write;
  }

  /** A field as it is written; undefined: the line before had another value, or none. */
  text(name: string, value: string): string | undefined {
    const last = this.#fields.get(name);
    if (last?.value === value) {
      // Joined it is one text for V8 as well, which has not to be put together for each line.
      last.written ??= this.#write(name, value).join("");
      return last.written;
    }
    if (value.length > LONGEST) return undefined;
    if (last === undefined) this.#fields.set(name, { value, written: undefined });
    else {
      last.value = value;
      last.written = undefined;
    }
    return undefined;
  }
}
