import type { JsonObject } from "../../../cel/variables.ts";
import { SseReader } from "../../../http/body/sse.ts";
import type { StreamReader } from "../../chat/formats.ts";
import { isJsonObject } from "../../chat/request-object.ts";
import type { ResponseBlock } from "../../chat/response.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import { cutOff, eventTooLong, notJson } from "../broken-stream.ts";
import { parseObject } from "../parse-object.ts";
import { readGenerateContentError } from "./errors.ts";
import {
  candidateParts,
  firstCandidate,
  isBroken,
  isPromptBlocked,
  readFinishReason,
  readPart,
} from "./response-reader.ts";
import { readGenerateContentUsage } from "./usage.ts";

/** Reads the stream of generateContent (`?alt=sse`): every event is a response with the next parts. */
export class GenerateContentStreamReader implements StreamReader {
  readonly #frames: SseReader;
  #hasStarted = false;
  #isOver = false;
  #calls = 0;
  #hasParts = false;
  /** What is said once the provider has closed the stream: there is no other end mark. */
  #finish: unknown;
  #isBlocked = false;
  /** Numbers of later events stand in the place of those before. */
  #usage: Usage | undefined;

  constructor(limit: number) {
    this.#frames = new SseReader(limit);
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    const frames = this.#frames.push(chunk);
    if (frames === undefined) return this.#fail(eventTooLong);
    return frames.flatMap(({ data }) =>
      data === undefined || this.#isOver ? [] : this.#read(data),
    );
  }

  end(): readonly StreamEvent[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    const finish = this.#finish;
    if (finish === undefined && !this.#isBlocked) return [cutOff];
    if (!this.#hasParts && isBroken(finish)) return [modelFailed];
    const reason = this.#isBlocked ? "filtered" : readFinishReason(finish, this.#calls > 0);
    const usage: readonly StreamEvent[] =
      this.#usage === undefined ? [] : [{ kind: "usage", usage: this.#usage }];
    return [{ kind: "stop", reason, stopSequence: undefined }, ...usage, { kind: "end" }];
  }

  #read(data: string): readonly StreamEvent[] {
    const response = parseObject(data);
    if (response === undefined) return this.#fail(notJson);
    if (isJsonObject(response.error)) {
      const { kind, message } = readGenerateContentError(502, data);
      return this.#fail({ kind: "error", error: { kind, message } });
    }
    const candidate = firstCandidate(response);
    const blocks = candidate === undefined ? [] : candidateParts(candidate).flatMap(readPart);
    if (blocks.length > 0) this.#hasParts = true;
    if (typeof candidate?.finishReason === "string") this.#finish = candidate.finishReason;
    if (candidate === undefined && isPromptBlocked(response)) this.#isBlocked = true;
    this.#usage = readGenerateContentUsage(response.usageMetadata) ?? this.#usage;
    return [...this.#start(response), ...blocks.flatMap((block) => this.#events(block))];
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
      case "redacted-reasoning":
        return [];
    }
  }

  #fail(error: StreamEvent): readonly StreamEvent[] {
    this.#isOver = true;
    return [error];
  }
}

const modelFailed: StreamEvent = {
  kind: "error",
  error: { kind: "server", message: "the model gave no valid response" },
};
