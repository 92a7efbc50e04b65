import type { JsonObject } from "../../cel/variables.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { jsonSelector } from "../../json/select-json.ts";
import type { ResponseFacts, StreamWatcher } from "../chat/formats.ts";
import { readCompletionsError } from "./completions/errors.ts";
import { eventData } from "./event-bytes.ts";
import { readResponsesUsage } from "./responses/usage.ts";

/** Members of events that are read. Others, such as audio and images, may be long. */
const select = jsonSelector({ type: true, usage: true, error: true });

/** Watches a stream of OpenAI whose events have types, and whose last event has the usage: `transcript.text.done`. */
export class TypedEvents implements StreamWatcher {
  facts: ResponseFacts = {};
  hasEnded = false;
  readonly #isLast: (type: string) => boolean;
  readonly #factsOf: (event: JsonObject) => ResponseFacts;

  /** `isLast`: whether an event of a type completes the response. `factsOf`: reads the facts in such an event. */
  constructor(isLast: (type: string) => boolean, factsOf = readUsage) {
    this.#isLast = isLast;
    this.#factsOf = factsOf;
  }

  see(event: Buffer): ReturnType<StreamWatcher["see"]> {
    const data = eventData(event);
    if (data === undefined) return "other";
    if (data === "[DONE]") return "end";
    const read = selected(data);
    if (read === undefined) return "other";
    if (isJsonObject(read.error)) return readCompletionsError(502, data);
    const type = typeof read.type === "string" ? read.type : "";
    if (this.#isLast(type)) {
      this.hasEnded = true;
      this.facts = this.#factsOf(read);
    }
    return "content";
  }
}

function selected(data: string): JsonObject | undefined {
  try {
    return select(Buffer.from(data));
  } catch {
    return undefined;
  }
}

function readUsage({ usage }: JsonObject): ResponseFacts {
  return { usage: readResponsesUsage(usage) };
}
