import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { LlmRefusal } from "../chat/llm-error.ts";

/** Writes a request for a provider. Throws LlmRefusal for what the provider does not support. */
type WriteRequest = (body: JsonObject) => string;

/** Maximum number of fields that are left out of a request: after each, the request is read again. */
const MAX_DROPPED = 64;

/**
 * Fields that are never left out: without them, the completion is about something else, or the provider treats the prompt in a
 * way that the client excludes.
 */
const KEPT = new Set([
  ...["model", "messages", "input", "system", "instructions", "prompt", "stream"],
  ...["contents", "systemInstruction", "cachedContent", "guardrailConfig", "promptVariables"],
  ...["previous_response_id", "conversation", "background", "inference_geo", "moderation"],
]);

/** A request without some of its fields. */
export interface ReducedRequest {
  readonly written: string;
  /** Fields that are left out of the client's body. */
  readonly dropped: readonly string[];
}

/**
 * Writes a request without the fields that the provider does not support. Throws LlmRefusal for content that the provider does
 * not support.
 */
export function dropUnsupported(body: JsonObject, write: WriteRequest): ReducedRequest {
  const fields = new ReducedBody(body);
  for (;;) {
    try {
      return { written: write(fields.body), dropped: fields.dropped };
    } catch (error) {
      if (!(error instanceof LlmRefusal) || !fields.drop(error)) throw error;
    }
  }
}

/** A body without some of its fields. */
class ReducedBody {
  body: JsonObject;
  /** Paths of the fields that are left out, in the client's body. */
  readonly dropped: string[] = [];
  /** Indices of the items that are left out of each list, in the client's body. */
  readonly #items = new Map<string, number[]>();

  constructor(body: JsonObject) {
    this.body = body;
  }

  /** Leaves out the field of a refusal; false if it must not be left out. */
  drop({ error }: LlmRefusal): boolean {
    const { kind, field = "" } = error;
    const path = pathOf(field);
    const [root = ""] = path;
    // A choice of a tool that was left out is not valid either.
    const isOfTool = root === "tool_choice" && this.dropped.some((each) => /^tools\b/.test(each));
    const mayDrop = (kind === "unsupported" || isOfTool) && !KEPT.has(String(root));
    if (!mayDrop || path.length === 0 || this.dropped.length === MAX_DROPPED) return false;
    const body = without(this.body, path);
    if (!isJsonObject(body)) return false;
    this.body = body;
    this.dropped.push(this.#original(path));
    return true;
  }

  /** Returns the path in the client's body, where items have not moved up. */
  #original(path: readonly (string | number)[]): string {
    let text = "";
    path.forEach((step, index) => {
      if (typeof step === "string") {
        text += text === "" ? step : `.${step}`;
        return;
      }
      const before = this.#items.get(text) ?? [];
      let at = step;
      for (const each of before.toSorted((a, b) => a - b)) if (each <= at) at += 1;
      if (index === path.length - 1) this.#items.set(text, [...before, at]);
      text += `[${at}]`;
    });
    return text;
  }
}

/** Returns the steps of a path. An object with an unsupported `type` is left out as a whole. */
function pathOf(field: string): readonly (string | number)[] {
  const steps = [...field.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map(([, name, index]) =>
    name === undefined ? Number(index) : name,
  );
  return steps.length > 1 && steps.at(-1) === "type" ? steps.slice(0, -1) : steps;
}

/** Returns a copy of a value without the field at a path; `undefined` if it has no such field. */
function without(value: unknown, [step, ...rest]: readonly (string | number)[]): unknown {
  if (Array.isArray(value) && typeof step === "number" && step < value.length) {
    if (rest.length === 0) return value.toSpliced(step, 1);
    const item = without(value[step], rest);
    return item === undefined ? undefined : value.with(step, item);
  }
  if (!isJsonObject(value) || typeof step !== "string" || !Object.hasOwn(value, step))
    return undefined;
  const { [step]: member, ...others } = value;
  if (rest.length === 0) return others;
  const changed = without(member, rest);
  return changed === undefined ? undefined : { ...others, [step]: changed };
}
