import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  NINE,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  ZERO,
} from "../../json/json-characters.ts";
import { afterSpace, isAt, stringEnd } from "../../json/json-codes.ts";
import type { CodeRange } from "../../patterns/joint-search.ts";
import { textCodes } from "../../patterns/text-codes.ts";
import type { SimpleKeys } from "../chat/simple-keys.ts";
import type { GuardRun } from "./guard-run.ts";
import type { GuardStep } from "./prompt-guard.ts";

/**
 * Whether no guard can find anything in a body, found in one pass without parsing it. False also for a body that has other
 * keys or structures, is not valid JSON, repeats a key, or is not ASCII: guards must read its texts then. Measures the time
 * for each guard.
 */
export function isClearJson(
  text: string,
  keys: SimpleKeys,
  steps: readonly GuardStep[],
  run: GuardRun,
): boolean {
  const start = performance.now();
  const checks = steps.map((step) => step.openJson?.(text));
  const known = checks.filter((check) => check !== undefined);
  if (known.length !== steps.length) return false;
  if (!new BodyReader(text, keys, known).isClear()) return false;
  const guards = steps.flatMap((step) => step.guards);
  const spent = (performance.now() - start) / guards.length;
  for (const guard of guards) run.spend(guard, spent);
  return true;
}

/** Reads one body, and stops at the first thing that is not simple. */
class BodyReader {
  readonly #codes: Uint16Array;
  readonly #keys: SimpleKeys;
  readonly #checks: readonly ((range: CodeRange) => boolean)[];
  readonly #role: number;
  readonly #content: number;
  /** Receives decoded strings; `undefined` if all are what they are written as. */
  readonly #decoded: Uint16Array | undefined;
  #at = 0;
  /** The role of the last message with content. */
  #lastRole: CodeRange | undefined;

  constructor(text: string, keys: SimpleKeys, checks: readonly ((range: CodeRange) => boolean)[]) {
    this.#codes = textCodes(text).subarray(0, text.length);
    const isBare = !NEVER_BARE.some((character) => text.includes(character));
    this.#decoded = isBare ? undefined : decodedFor(text.length);
    this.#keys = keys;
    this.#role = keys.bitOf("role");
    this.#content = keys.bitOf("content");
    this.#checks = checks;
  }

  isClear(): boolean {
    this.#skipSpace();
    if (this.#codes[this.#at] !== OPEN_BRACE || !this.#object(0)) return false;
    this.#skipSpace();
    return this.#at === this.#codes.length;
  }

  /** Reads the object at the place. */
  #object(depth: number): boolean {
    if (depth === MAX_DEPTH) return false;
    let seen = 0;
    let role: CodeRange | undefined;
    let hasContent = false;
    this.#step();
    if (this.#ends(CLOSE_BRACE)) return true;
    for (;;) {
      const keyStart = this.#at;
      if (this.#codes[keyStart] !== QUOTE) return false;
      const keyEnd = stringEnd(this.#codes, keyStart);
      const key = this.#keys.at(this.#codes, keyStart + 1, keyEnd - 1);
      // Readers differ on which value of a repeated key counts.
      if (key === 0 || (seen & key) !== 0) return false;
      seen |= key;
      this.#at = keyEnd;
      this.#skipSpace();
      if (this.#codes[this.#at] !== COLON) return false;
      this.#step();
      const start = this.#at;
      const isString = this.#codes[start] === QUOTE;
      if (key === this.#content) {
        if (this.#codes[start] === OPEN_BRACKET || this.#codes[start] === OPEN_BRACE) return false;
        hasContent = isString;
      }
      if (!this.#value(depth)) return false;
      if (key === this.#role) {
        if (!isString) return false;
        role = { codes: this.#codes, from: start, to: this.#at };
      }
      this.#skipSpace();
      if (this.#ends(CLOSE_BRACE)) break;
      if (this.#codes[this.#at] !== COMMA) return false;
      this.#step();
    }
    return !hasContent || this.#isOfNextRole(role);
  }

  /** Whether a message has another role than the last one, so that their texts are not joined. */
  #isOfNextRole(role: CodeRange | undefined): boolean {
    const last = this.#lastRole;
    if (role === undefined) return false;
    this.#lastRole = role;
    return (
      last === undefined ||
      last.to - last.from !== role.to - role.from ||
      role.codes
        .subarray(role.from, role.to)
        .some((code, index) => last.codes[last.from + index] !== code)
    );
  }

  #list(depth: number): boolean {
    if (depth === MAX_DEPTH) return false;
    this.#step();
    if (this.#ends(CLOSE_BRACKET)) return true;
    for (;;) {
      if (!this.#value(depth)) return false;
      this.#skipSpace();
      if (this.#ends(CLOSE_BRACKET)) return true;
      if (this.#codes[this.#at] !== COMMA) return false;
      this.#step();
    }
  }

  #value(depth: number): boolean {
    switch (this.#codes[this.#at]) {
      case QUOTE:
        return this.#string();
      case OPEN_BRACE:
        return this.#object(depth + 1);
      case OPEN_BRACKET:
        return this.#list(depth + 1);
      case 0x74:
        return this.#word(TRUE);
      case 0x66:
        return this.#word(FALSE);
      case 0x6e:
        return this.#word(NULL);
      default:
        return this.#number();
    }
  }

  #word(word: Uint8Array): boolean {
    const from = this.#at;
    this.#at += word.length;
    return isAt(this.#codes, from, word);
  }

  /** Reads a number without an exponent. */
  #number(): boolean {
    const from = this.#codes[this.#at] === MINUS ? this.#at + 1 : this.#at;
    this.#at = this.#afterDigits(from);
    const length = this.#at - from;
    if (length === 0 || (length > 1 && this.#codes[from] === ZERO)) return false;
    if (this.#codes[this.#at] !== POINT) return true;
    const fraction = this.#at + 1;
    this.#at = this.#afterDigits(fraction);
    return this.#at > fraction;
  }

  #afterDigits(from: number): number {
    let at = from;
    for (; at < this.#codes.length; at++) {
      const code = this.#codes[at] ?? 0;
      if (code < ZERO || code > NINE) break;
    }
    return at;
  }

  #string(): boolean {
    const range = this.#decoded === undefined ? this.#bareString() : this.#decode(this.#decoded);
    if (range === undefined) return false;
    for (const check of this.#checks) if (!check(range)) return false;
    return true;
  }

  /** Returns the content of a string without escapes; `undefined` if it has no end. */
  #bareString(): CodeRange | undefined {
    const codes = this.#codes;
    const from = this.#at + 1;
    this.#at = stringEnd(codes, this.#at);
    const to = this.#at - 1;
    return to >= from && codes[to] === QUOTE ? { codes, from, to } : undefined;
  }

  /** Returns the content of a string; `undefined` if it has no end, or other escapes than those of one character. */
  #decode(decoded: Uint16Array): CodeRange | undefined {
    const codes = this.#codes;
    let length = 0;
    for (let at = this.#at + 1; at < codes.length; at++) {
      let code = codes[at] ?? 0;
      if (code === QUOTE) {
        this.#at = at + 1;
        return { codes: decoded, from: 0, to: length };
      }
      // Line breaks and tabs must be escaped in JSON.
      if (code < 0x20) return undefined;
      if (code === BACKSLASH) {
        at += 1;
        code = ESCAPED[codes[at] ?? 0] ?? 0;
        if (code === 0) return undefined;
      }
      decoded[length++] = code;
    }
    return undefined;
  }

  #ends(close: number): boolean {
    if (this.#codes[this.#at] !== close) return false;
    this.#at += 1;
    return true;
  }

  #step(): void {
    this.#at = afterSpace(this.#codes, this.#at + 1);
  }

  #skipSpace(): void {
    this.#at = afterSpace(this.#codes, this.#at);
  }
}

/** Returns an array for one decoded string after the other. */
function decodedFor(length: number): Uint16Array {
  return length > DECODED.length ? new Uint16Array(length) : DECODED;
}

const DECODED = new Uint16Array(16_384);

/** Maximum depth of objects and lists. */
const MAX_DEPTH = 8;

const MINUS = 0x2d;
const POINT = 0x2e;

const TRUE = Buffer.from("true");
const FALSE = Buffer.from("false");
const NULL = Buffer.from("null");

/** Characters of the escapes `\" \\ \/ \n \r \t`, by the code after the backslash; 0 for any other. */
const ESCAPED: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const letter = String.fromCharCode(code);
  return '"\\/nrt'.includes(letter) ? JSON.parse(`"\\${letter}"`).charCodeAt(0) : 0;
});

/** Characters that are escaped in strings, or start an escape. Other control characters are not read as they are written. */
const NEVER_BARE: readonly string[] = ["\\", "\n", "\t", "\r", "\f"];
