import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type {
  NativeFormat,
  OriginalRequest,
  ResponseFacts,
  StreamWatcher,
} from "../../chat/formats.ts";
import type { LlmError } from "../../chat/llm-error.ts";
import { eventData } from "../event-bytes.ts";
import { parseObject } from "../parse-object.ts";
import { RepeatedEvent } from "../repeated-event.ts";
import { completionsErrors, readCompletionsError, readFailure } from "./errors.ts";
import { completionsUsageReads, readCompletionsUsage } from "./usage.ts";

/** OpenAI's chat completions on both sides. */
export const completionsNative: NativeFormat = {
  name: "completions",
  ...completionsErrors,
  reads: {
    id: true,
    model: true,
    usage: completionsUsageReads,
    choices: [{ finish_reason: true }],
  },
  readResponse: readFacts,
  watchStream: (request) => new CompletionsWatcher(request),
  readError: readCompletionsError,
  adapt: (body) => {
    if (body.get("stream") !== "true") return;
    // The gateway counts usage even if the client does not request it.
    const options = parseObject(body.get("stream_options") ?? "{}") ?? {};
    if (options.include_usage === true) return;
    body.set("stream_options", JSON.stringify({ ...options, include_usage: true }));
  },
};

function readFacts({ id, model, usage, choices }: JsonObject): ResponseFacts {
  const [choice] = Array.isArray(choices) ? choices : [];
  const finish = isJsonObject(choice) ? choice.finish_reason : undefined;
  return {
    id: typeof id === "string" ? id : undefined,
    model: typeof model === "string" ? model : undefined,
    usage: readCompletionsUsage(usage),
    finish: typeof finish === "string" ? finish : undefined,
  };
}

class CompletionsWatcher implements StreamWatcher {
  facts: ResponseFacts = {};
  readonly #wantsUsage: boolean;
  #isFirst = true;
  /** Last event with text; most later ones differ only in their text. */
  #last: RepeatedEvent | undefined;
  #hasFinished = false;

  constructor({ body }: OriginalRequest) {
    const options = body.stream_options;
    this.#wantsUsage = isJsonObject(options) && options.include_usage === true;
  }

  see(event: Buffer): ReturnType<StreamWatcher["see"]> {
    const text = event.toString("latin1");
    if (this.#last?.matches(text) === true) return "content";
    if (!this.#isFirst && isPlain(text)) {
      this.#last = RepeatedEvent.of(text, "content");
      return "content";
    }
    const data = eventData(event);
    if (data === undefined) return "other";
    if (data === "[DONE]") return "end";
    const chunk = parseObject(data);
    return chunk === undefined ? "other" : this.#read(chunk);
  }

  /** Some servers omit the end mark: a finish reason counts as an end too. */
  get hasEnded(): boolean {
    return this.#hasFinished;
  }

  #read(chunk: JsonObject): "content" | "other" | "hidden" | LlmError {
    if (isJsonObject(chunk.error)) return readFailure(chunk.error);
    this.#isFirst = false;
    const { usage, finish, ...rest } = readFacts(chunk);
    if (this.facts.model === undefined) this.facts = { ...rest, ...this.facts };
    if (finish !== undefined) {
      this.#hasFinished = true;
      this.facts = { ...this.facts, finish };
    }
    if (usage !== undefined) this.facts = { ...this.facts, usage };
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (choice === undefined) return usage === undefined || this.#wantsUsage ? "other" : "hidden";
    return hasContent(choice) ? "content" : "other";
  }
}

/** Whether an event has only text or a piece of a call; decided without parsing it. */
function isPlain(event: string): boolean {
  const hasUsage = event.includes('"usage"') && !event.includes('"usage":null');
  return event.includes('"finish_reason":null') && !hasUsage && !event.includes('"error"');
}

function hasContent(choice: unknown): boolean {
  if (!isJsonObject(choice)) return false;
  if (typeof choice.finish_reason === "string") return true;
  const delta = isJsonObject(choice.delta) ? choice.delta : {};
  return Object.entries(delta).some(
    ([key, value]) => key !== "role" && value !== null && value !== "",
  );
}
