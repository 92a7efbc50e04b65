import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../cel/variables.ts";
import { foldCase } from "../../json/fold-case.ts";
import { hasRepeatedKey, isObjectAt } from "../../json/json-text.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";

/**
 * Returns the arguments of a tool call for rules; a string that describes the problem if servers could read others. Keys that
 * differ only in case count as repeated, because some servers do not distinguish them. Integers beyond 2^53 keep their value,
 * which many servers read: a rounded one could be another record.
 */
export function callArguments(request: Message): JsonObject | string {
  const at = paramOf(request, "arguments");
  const text = at === undefined ? "null" : textAt(request.text, at);
  if (text === "null") return {};
  if (!isObjectAt(text, 0)) return "arguments must be an object";
  if (hasRepeatedKey(text, foldCase)) return "arguments have a duplicate key";
  return LONG_NUMBER.test(text) ? Object(JSON.parse(withMarks(text), unmarked)) : JSON.parse(text);
}

/** Digits of the smallest integer that a number of JavaScript may round. */
const LONG_NUMBER = /\d{16}/;

/** Begins strings that stand for integers; no client knows it. */
const MARK = randomUUID();

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const INTEGER = /^-?\d+$/;

function withMarks(text: string): string {
  return text.replace(STRING_OR_NUMBER, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `"${MARK}${token}"` : token,
  );
}

function unmarked(_key: string, value: unknown): unknown {
  const isMarked = typeof value === "string" && value.startsWith(MARK);
  return isMarked ? BigInt(value.slice(MARK.length)) : value;
}
