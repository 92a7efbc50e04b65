import type { FieldWriter } from "../field-writer.ts";
import { type ItemBuffer, unpooledBytes } from "./item-buffer.ts";
import type { AttributeFormat, WrittenAttributes } from "./otlp-format.ts";

/** Values that may follow the same attributes; where there are more, none is kept. */
const MAX_VALUES = 16;
/** The longest value that is kept. */
const MAX_KEPT = 64;
/** Runs that are kept; beyond, they are gathered anew. */
const MAX_RUNS = 4096;

/** The attributes of a span so far, as they are written, and those that have followed them. */
interface Run {
  readonly text: string;
  /** What stands before the next one. */
  readonly separator: string;
  readonly next: NextRun[];
  /** Too many values have followed: each is written by itself. */
  isVaried: boolean;
  /** The text, once a list has ended with it. */
  bytes: Buffer | undefined;
  /** The same with what was the first to stand around it. */
  enclosed: EnclosedRun | undefined;
}

/** A run that is a whole list of attributes, with what stands before and behind it. */
interface EnclosedRun {
  readonly open: Uint8Array;
  readonly close: Uint8Array;
  readonly bytes: Buffer;
}

/** A run with one more attribute, whose value is in two parts where it is a text. */
interface NextRun {
  readonly name: string;
  readonly value: string | number;
  readonly rest: string;
  readonly run: Run;
}

/**
 * Runs of attributes as they are written. Most spans have the same ones as others, but for a few values (paths, clients):
 * what stands before, between and behind those is there already, and the cheapest to write.
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

  /** Where a list of attributes begins. */
  get first(): Run {
    return this.#first;
  }

  /** Where it goes on behind one that is written by itself. */
  get later(): Run {
    return this.#later;
  }

  /** The run with one more attribute, whose value is in two parts where it is a text; undefined: it is written by itself. */
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

  /** An attribute by itself, behind others. */
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
export class OtlpAttributes implements FieldWriter, WrittenAttributes {
  readonly #runs: AttributeRuns;
  /** What stands before the run: runs, and behind each what is written by itself. */
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

  /** A text in two parts, of which each is mostly the same as others. */
  joined(name: string, value: string, rest: string): void {
    this.#add(name, value, rest);
  }

  plain(name: string, value: string): void {
    this.#add(name, value, "");
  }

  number(name: string, value: number | undefined): void {
    if (value !== undefined) this.#add(name, value, "");
  }

  list(name: string, values: readonly string[] | undefined): void {
    if (values !== undefined) this.#addAlone(this.#runs.format.list(name, values));
  }

  json(name: string, value: string): void {
    if (value === "true" || value === "false")
      this.#addAlone(this.#runs.format.boolean(name, value === "true"));
    else if (IS_NUMBER.test(value)) this.#add(name, Number(value), "");
    else if (IS_TEXTS.test(value)) this.list(name, JSON.parse(value));
    else if (value !== "null") this.#add(name, value, "");
  }

  /** There are none: those of another span can be added. */
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
      // Most items with these attributes are alike in all else, but for ids and times: they are copied in one piece.
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

/** A run as bytes, which are kept: a list of attributes has ended with it. */
function bytesOf(run: Run): Buffer {
  run.bytes ??= unpooledBytes(Buffer.from(run.text, "latin1"));
  return run.bytes;
}

/** A list of JSON with nothing but texts in it. */
const IS_TEXTS = /^\[("(?:[^"\\]|\\.)*"(,"(?:[^"\\]|\\.)*")*)?\]$/;

/** A number of JSON. */
const IS_NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
