import type { LongFieldWriter } from "../message-capture.ts";
import { type ItemBuffer, unpooledBytes } from "./item-buffer.ts";
import type { AttributeFormat, WrittenAttributes } from "./otlp-format.ts";

/** Maximum number of values that are cached after the same attributes; beyond it, none is. */
const MAX_VALUES = 16;
/** Maximum length of a cached value. */
const MAX_KEPT = 64;
/** Maximum number of cached runs; beyond it, the cache is cleared. */
const MAX_RUNS = 4096;

/** The encoded attributes of a span so far, with the runs that continue them. */
interface Run {
  readonly text: string;
  /** The string before the next attribute. */
  readonly separator: string;
  readonly next: NextRun[];
  /** Whether too many values have followed, so that each is encoded separately. */
  isVaried: boolean;
  /** The encoded bytes, created when a list ends with this run. */
  bytes: Buffer | undefined;
  /** The same with the first byte sequences that enclosed it. */
  enclosed: EnclosedRun | undefined;
}

/** A run that is a complete list of attributes, with the bytes around it. */
interface EnclosedRun {
  readonly open: Uint8Array;
  readonly close: Uint8Array;
  readonly bytes: Buffer;
}

/** A run with one more attribute; a string value is in two parts. */
interface NextRun {
  readonly name: string;
  readonly value: string | number;
  readonly rest: string;
  readonly run: Run;
}

/**
 * A cache of encoded attribute lists. Most spans share all but a few values (paths, clients), so the parts before, between
 * and after these need not be encoded again.
 */
export class AttributeRuns {
  readonly format: AttributeFormat;
  #first: Run;
  #later: Run;
  #count = 0;

  constructor(format: AttributeFormat) {
    this.format = format;
    this.#first = newRun("", "");
    this.#later = newRun("", format.separator);
  }

  /** The start of a list of attributes. */
  get first(): Run {
    return this.#first;
  }

  /** The start after an attribute that was encoded separately. */
  get later(): Run {
    return this.#later;
  }

  /**
   * Returns the run with one more attribute, whose string value is in two parts; `undefined` if it has to be encoded
   * separately.
   */
  after(run: Run, name: string, value: string | number, rest: string): Run | undefined {
    const { next } = run;
    for (let i = 0; i < next.length; i++) {
      const each = next[i];
      if (each?.name === name && each.value === value && each.rest === rest) return each.run;
    }
    if (run.isVaried) return undefined;
    if (typeof value === "string" && value.length + rest.length > MAX_KEPT) return undefined;
    if (run.next.length === MAX_VALUES) {
      run.isVaried = true;
      run.next.length = 0;
      return undefined;
    }
    return this.#add(run, name, value, rest);
  }

  /** Encodes a single attribute. */
  text(name: string, value: string | number, rest: string): string {
    return typeof value === "string"
      ? this.format.text(name, value + rest)
      : this.format.number(name, value);
  }

  #add(run: Run, name: string, value: string | number, rest: string): Run {
    const { separator } = this.format;
    const added = newRun(`${run.text}${run.separator}${this.text(name, value, rest)}`, separator);
    run.next.push({ name, value, rest, run: added });
    this.#count += 1;
    if (this.#count === MAX_RUNS) {
      this.#count = 0;
      this.#first = newRun("", "");
      this.#later = newRun("", separator);
    }
    return added;
  }
}

function newRun(text: string, separator: string): Run {
  return { text, separator, next: [], isVaried: false, bytes: undefined, enclosed: undefined };
}

/** The attributes of one span, log record or resource. */
export class OtlpAttributes implements LongFieldWriter, WrittenAttributes {
  readonly #runs: AttributeRuns;
  /** The parts before the current run: runs, each followed by a separately encoded attribute. */
  #before: (Run | string)[] | undefined;
  #lengthBefore = 0;
  #run: Run;

  constructor(runs: AttributeRuns) {
    this.#runs = runs;
    this.#run = runs.first;
  }

  text(name: string, value: string | undefined): void {
    if (value !== undefined) this.#add(name, value, "");
  }

  /** Adds a string in two parts, each of which often recurs. */
  joined(name: string, value: string, rest: string): void {
    this.#add(name, value, rest);
  }

  plain(name: string, value: string): void {
    this.#add(name, value, "");
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined) this.#add(name, value, "");
  }

  milliseconds(name: string, value: number): void {
    this.#add(name, `${Math.round(value)}ms`, "");
  }

  list(name: string, values: readonly string[] | undefined): void {
    if (values !== undefined) this.#addAlone(this.#runs.format.list(name, values));
  }

  content(name: string, value: string): void {
    this.#addAlone(this.#runs.format.content(name, value));
  }

  json(name: string, value: string): void {
    if (value === "true" || value === "false")
      this.#addAlone(this.#runs.format.boolean(name, value === "true"));
    else if (IS_NUMBER.test(value)) this.#add(name, Number(value), "");
    else if (IS_TEXTS.test(value)) this.list(name, JSON.parse(value));
    else if (value !== "null") this.#add(name, value, "");
  }

  /** Removes all attributes, so that the object can be reused. */
  clear(): void {
    this.#before = undefined;
    this.#lengthBefore = 0;
    this.#run = this.#runs.first;
  }

  get length(): number {
    return this.#lengthBefore + this.#run.text.length;
  }

  writeTo(items: ItemBuffer): void {
    const before = this.#before;
    if (before !== undefined) {
      for (const part of before) {
        if (typeof part === "string") items.text(part);
        else items.piece(bytesOf(part));
      }
    }
    items.piece(bytesOf(this.#run));
  }

  writeBetween(items: ItemBuffer, open: Uint8Array, close: Uint8Array): number {
    if (this.#before === undefined) {
      const run = this.#run;
      run.enclosed ??= { open, close, bytes: unpooledBytes(open, bytesOf(run), close) };
      const { enclosed } = run;
      // Most items with these attributes differ only in ids and times, so they are copied in one piece.
      if (enclosed.open === open && enclosed.close === close) return items.piece(enclosed.bytes);
    }
    const at = items.piece(open);
    this.writeTo(items);
    items.piece(close);
    return at;
  }

  #add(name: string, value: string | number, rest: string): void {
    const run = this.#runs.after(this.#run, name, value, rest);
    if (run === undefined) this.#addAlone(this.#runs.text(name, value, rest));
    else this.#run = run;
  }

  #addAlone(attribute: string): void {
    const run = this.#run;
    const text = run.separator + attribute;
    this.#before ??= [];
    this.#before.push(run, text);
    this.#lengthBefore += run.text.length + text.length;
    this.#run = this.#runs.later;
  }
}

/** Returns a run as bytes, which are cached because a list of attributes ends with it. */
function bytesOf(run: Run): Buffer {
  run.bytes ??= unpooledBytes(Buffer.from(run.text, "latin1"));
  return run.bytes;
}

/** A JSON array of strings. */
const IS_TEXTS = /^\[("(?:[^"\\]|\\.)*"(,"(?:[^"\\]|\\.)*")*)?\]$/;

/** A JSON number. */
const IS_NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
