import type { FieldWriter } from "../field-writer.ts";

/** The format of lines: `name=value` fields after a time, or one JSON object per line. */
export type LogFormat = "text" | "json";

/** Maximum number of characters of a field's value, as clients may send long paths and headers. */
const MAX_VALUE = 4096;

/** Truncates a value to the maximum length of a field. */
export function shortened(value: string): string {
  return value.length <= MAX_VALUE ? value : `${value.slice(0, MAX_VALUE)}...`;
}

/** Formats a value for a text line after `name=`; quotes it if it would be ambiguous. */
export function textValue(value: string): string {
  return PLAIN.test(value) ? value : quoted(value);
}

/** Letters, digits and the characters of paths, hosts and addresses; none of them can end the value. */
const PLAIN = /^[\w./:@%+,;~*()[\]{}?!$&'<>|^-]+$/;

/** Quotes a string as JSON, with escapes for characters that terminals or line readers interpret. */
function quoted(value: string): string {
  return visible(JSON.stringify(value));
}

/** Escapes invisible characters in JSON text. They occur only in strings, where an escape is valid. */
export function visible(json: string): string {
  return json.replace(INVISIBLE, escaped);
}

/**
 * Characters that are invisible or reorder text: controls above ASCII, format and tag characters, line separators, fillers,
 * variation selectors, lone surrogates.
 */
const INVISIBLE =
  /[\u{7f}-\u{9f}\u{ad}\u{61c}\u{115f}\u{1160}\u{200b}-\u{200f}\u{2028}-\u{202e}\u{2060}-\u{206f}\u{2800}\u{3164}\u{d800}-\u{dfff}\u{feff}\u{ffa0}\u{fff0}-\u{fffb}\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|\u{34f}|\u{17b4}|\u{17b5}|[\u{180b}-\u{180f}]|[\u{fe00}-\u{fe0f}]|[\u{e0000}-\u{e0fff}]/gu;

function escaped(character: string): string {
  let text = "";
  for (let at = 0; at < character.length; at++)
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  return text;
}

/** Formats a JSON string. */
export function jsonValue(value: string): string {
  return PLAIN.test(value) ? `"${value}"` : quoted(value);
}

/** Formats RFC 3339 times with milliseconds; the last one, and its part down to seconds, are cached. */
export class TimeText {
  #milliseconds = -1;
  #last = "";
  #second = -1;
  #text = "";

  /** Formats `milliseconds` since the epoch. */
  format(milliseconds: number): string {
    if (milliseconds === this.#milliseconds) return this.#last;
    this.#milliseconds = milliseconds;
    this.#last = this.#format(milliseconds);
    return this.#last;
  }

  #format(milliseconds: number): string {
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
  /** Returns the line, ended by a line feed. */
  end(): string;
}

/** Returns the writer of lines in a format; it builds one line at a time. `scope`: the part of the log. */
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
    this.#repeated.begin();
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

  milliseconds(name: string, value: number): void {
    this.#line += ` ${name}=${Math.round(value)}ms`;
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

/** One JSON object per line, with the same names. */
class JsonLine implements AccessLogLine {
  readonly #scope: string;
  readonly #time = new TimeText();
  readonly #repeated = new RepeatedFields((name, value) => [',"', name, '":', jsonValue(value)]);
  #line = "";

  constructor(scope: string) {
    this.#scope = scope;
  }

  begin(): void {
    this.#repeated.begin();
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

  milliseconds(name: string, value: number): void {
    this.#line += `,"${name}":"${Math.round(value)}ms","${name}_ms":${thousandths(Math.round(value * 1000))}`;
  }

  json(name: string, value: string): void {
    // A truncated object is not valid JSON.
    if (shortened(value) !== value) this.text(name, value);
    else this.#line += `,"${name}":${visible(value)}`;
  }

  end(): string {
    return `${this.#line}}\n`;
  }
}

/** Formats a number of thousandths. V8 formats whole numbers several times as fast as fractions. */
function thousandths(count: number): string {
  const rest = count % 1000;
  const whole = (count - rest) / 1000;
  if (rest === 0) return String(whole);
  if (rest % 100 === 0) return `${whole}.${rest / 100}`;
  if (rest % 10 === 0) return `${whole}.${rest < 100 ? "0" : ""}${rest / 10}`;
  return `${whole}.${rest < 10 ? "00" : rest < 100 ? "0" : ""}${rest}`;
}

/** Maximum length of a cached value; longer ones rarely recur. */
const MAX_LENGTH = 64;

/** The last value of a field. */
interface RepeatedField {
  readonly name: string;
  value: string;
  /** The formatted field; `undefined` until the value recurs. */
  written: string | undefined;
}

/**
 * A cache of fields that rarely change between lines, such as the route or model. A recurring field is formatted once and
 * is a single string.
 */
class RepeatedFields {
  readonly #write: (name: string, value: string) => readonly string[];
  readonly #fields: RepeatedField[] = [];
  #next = 0;

  /** `write`: returns the pieces of a formatted field. */
  constructor(write: (name: string, value: string) => readonly string[]) {
    this.#write = write;
  }

  /** Starts a new line. */
  begin(): void {
    this.#next = 0;
  }

  /** Returns the formatted field; `undefined` if the previous line had another value. */
  text(name: string, value: string): string | undefined {
    const last = this.#field(name);
    if (last?.value === value) {
      // Joining flattens it for V8, too, so that it need not be flattened for each line.
      last.written ??= this.#write(name, value).join("");
      return last.written;
    }
    if (value.length > MAX_LENGTH) return undefined;
    if (last === undefined) this.#fields.push({ name, value, written: undefined });
    else {
      last.value = value;
      last.written = undefined;
    }
    return undefined;
  }

  /** Finds a field. Lines have the same order of fields, so it usually follows the one that was found last. */
  #field(name: string): RepeatedField | undefined {
    const fields = this.#fields;
    const next = fields[this.#next];
    if (next?.name === name) {
      this.#next += 1;
      return next;
    }
    const at = fields.findIndex((field) => field.name === name);
    if (at === -1) return undefined;
    this.#next = at + 1;
    return fields[at];
  }
}
