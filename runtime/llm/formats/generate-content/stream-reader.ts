import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { FetchBlock } from "../../chat/hosted-tools.ts";
import { errorOfEvent } from "../../chat/llm-error.ts";
import type { ResponseBlock } from "../../chat/response.ts";
import type { LostFields } from "../../chat/response-fields.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import type { SearchBlock } from "../../chat/web-search.ts";
import { cutOff, notJson, unreadable } from "../broken-stream.ts";
import { parseObject } from "../parse-object.ts";
import type { SseEventReader } from "../sse-stream-reader.ts";
import { readGenerateContentError } from "./errors.ts";
import { RanPrograms, readFetched } from "./hosted-parts.ts";
import { generateContentResponseFields } from "./response-fields.ts";
import {
  explanationOf,
  firstCandidate,
  isBroken,
  isPromptBlocked,
  readFinishReason,
  readGrounding,
  readParts,
} from "./response-reader.ts";
import { readGenerateContentUsage } from "./usage.ts";

/** Reads a stream of generateContent (`?alt=sse`): every event is a response with the next parts. */
export class GenerateContentEventReader implements SseEventReader {
  #hasStarted = false;
  #calls = 0;
  #hasParts = false;
  /** Finish reason, reported when the provider has closed the stream, because there is no other end mark. */
  #finish: unknown;
  #isBlocked = false;
  /** Searches, which the last events report. */
  #search: SearchBlock | undefined;
  readonly #programs = new RanPrograms();
  /** Pages that were fetched, which the last events report. */
  #fetched: readonly FetchBlock[] = [];
  /** Usage of the last event; later counts replace earlier ones. */
  #usage: Usage | undefined;
  readonly #lost: LostFields | undefined;

  /** `lost`: takes the fields that other formats do not express. */
  constructor(lost?: LostFields) {
    this.#lost = lost;
  }

  read(data: string): readonly StreamEvent[] {
    const response = parseObject(data);
    if (response === undefined) return [notJson];
    this.#lost?.note(response, generateContentResponseFields);
    if (isJsonObject(response.error))
      return [{ kind: "error", error: errorOfEvent(readGenerateContentError(502, data)) }];
    const candidate = firstCandidate(response);
    const blocks = candidate === undefined ? [] : partsOf(candidate, this.#programs);
    if (blocks === undefined) return [unreadable];
    if (blocks.length > 0) this.#hasParts = true;
    if (candidate !== undefined && candidate.urlContextMetadata !== undefined)
      this.#fetched = readFetched(candidate);
    this.#search = (candidate && readGrounding(candidate)) ?? this.#search;
    if (typeof candidate?.finishReason === "string") this.#finish = candidate.finishReason;
    if (candidate === undefined && isPromptBlocked(response)) this.#isBlocked = true;
    this.#usage = readGenerateContentUsage(response.usageMetadata) ?? this.#usage;
    const explained = explanationOf(response);
    return [
      ...this.#start(response),
      ...blocks.flatMap((block) => this.#events(block)),
      ...explained,
    ];
  }

  close(): readonly StreamEvent[] {
    const finish = this.#finish;
    if (finish === undefined && !this.#isBlocked) return [cutOff];
    if (!this.#hasParts && isBroken(finish)) return [MODEL_FAILED];
    const reason = this.#isBlocked ? "filtered" : readFinishReason(finish, this.#calls > 0);
    const usage: readonly StreamEvent[] =
      this.#usage === undefined ? [] : [{ kind: "usage", usage: this.#usage }];
    return [
      ...this.#programs.rest(),
      ...this.#fetched,
      ...searchEvents(this.#search),
      { kind: "stop", reason, stopSequence: undefined },
      ...usage,
      { kind: "end" },
    ];
  }

  #start({ responseId: id, modelVersion: model }: JsonObject): readonly StreamEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [
      {
        kind: "start",
        id: typeof id === "string" ? id : undefined,
        model: typeof model === "string" ? model : "",
      },
    ];
  }

  #events(block: ResponseBlock): readonly StreamEvent[] {
    switch (block.kind) {
      case "text":
        return [{ kind: "text", text: block.text }];
      case "reasoning":
        return block.signature === undefined
          ? [{ kind: "reasoning", text: block.text }]
          : [{ kind: "signature", signature: block.signature }];
      case "tool-call": {
        const { id, name, input: text, signature } = block;
        const index = this.#calls;
        this.#calls += 1;
        return [
          { kind: "tool-call", index, id, name, signature },
          { kind: "tool-input", index, text },
        ];
      }
      case "hosted":
        return [block];
      default:
        return [];
    }
  }
}

/** Returns the blocks of a candidate; `undefined` if one cannot be read. */
function partsOf(
  candidate: JsonObject,
  programs: RanPrograms,
): readonly ResponseBlock[] | undefined {
  try {
    return readParts(candidate, programs);
  } catch {
    return undefined;
  }
}

function searchEvents(search: SearchBlock | undefined): readonly StreamEvent[] {
  if (search === undefined) return [];
  return [...search.pages.map((page) => ({ kind: "citation" as const, page })), search];
}

const MODEL_FAILED: StreamEvent = {
  kind: "error",
  error: { kind: "server", message: "the model did not produce a valid response" },
};
