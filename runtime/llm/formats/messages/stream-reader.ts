import type { JsonObject } from "../../../cel/variables.ts";
import { SseReader } from "../../../http/body/sse.ts";
import type { StreamReader } from "../../chat/formats.ts";
import { isJsonObject } from "../../chat/request-object.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import { cutOff, eventTooLong, notJson } from "../broken-stream.ts";
import { parseObject } from "../parse-object.ts";
import { readMessagesError } from "./errors.ts";
import { readStop } from "./response-reader.ts";
import { readMessagesUsage } from "./usage.ts";

/** Reads the stream of a server of the Messages API. */
export class MessagesStreamReader implements StreamReader {
  readonly #frames: SseReader;
  #isOver = false;
  /** The provider's index of a block -> ours of a call. */
  readonly #calls = new Map<unknown, number>();
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
    return [cutOff];
  }

  #read(data: string): readonly StreamEvent[] {
    const event = parseObject(data);
    if (event === undefined) return this.#fail(notJson);
    switch (event.type) {
      case "message_start":
        return this.#start(isJsonObject(event.message) ? event.message : {});
      case "content_block_start":
        return this.#block(
          event.index,
          isJsonObject(event.content_block) ? event.content_block : {},
        );
      case "content_block_delta":
        return this.#delta(event.index, isJsonObject(event.delta) ? event.delta : {});
      case "message_delta":
        return this.#last(event, isJsonObject(event.delta) ? event.delta : {});
      case "message_stop":
        this.#isOver = true;
        return [{ kind: "end" }];
      case "ping":
        return [{ kind: "ping" }];
      case "error":
        return this.#fail({ kind: "error", error: withoutStatus(readMessagesError(502, data)) });
      default:
        return [];
    }
  }

  #start(message: JsonObject): readonly StreamEvent[] {
    const { id, model } = message;
    const start: StreamEvent = {
      kind: "start",
      id: typeof id === "string" ? id : undefined,
      model: typeof model === "string" ? model : "",
    };
    return [start, ...this.#counted(message.usage)];
  }

  #block(index: unknown, block: JsonObject): readonly StreamEvent[] {
    const { id, name, data } = block;
    switch (block.type) {
      case "tool_use": {
        const call = this.#calls.size;
        this.#calls.set(index, call);
        if (typeof id !== "string" || typeof name !== "string") return this.#fail(notJson);
        return [{ kind: "tool-call", index: call, id, name }];
      }
      case "redacted_thinking":
        return typeof data === "string" ? [{ kind: "redacted-reasoning", data }] : [];
      default:
        return this.#delta(index, block);
    }
  }

  #delta(index: unknown, delta: JsonObject): readonly StreamEvent[] {
    const { text, thinking, signature, partial_json: input } = delta;
    if (isText(text)) return [{ kind: "text", text }];
    if (isText(thinking)) return [{ kind: "reasoning", text: thinking }];
    if (isText(signature)) return [{ kind: "signature", signature }];
    const call = this.#calls.get(index);
    if (isText(input) && call !== undefined) {
      return [{ kind: "tool-input", index: call, text: input }];
    }
    return [];
  }

  #last(event: JsonObject, delta: JsonObject): readonly StreamEvent[] {
    const { stop_reason: reason, stop_sequence: sequence } = delta;
    const stopSequence = typeof sequence === "string" ? sequence : undefined;
    const stop: readonly StreamEvent[] =
      typeof reason === "string" ? [{ kind: "stop", reason: readStop(reason), stopSequence }] : [];
    return [...stop, ...this.#counted(event.usage)];
  }

  #counted(usage: unknown): readonly StreamEvent[] {
    this.#usage = readMessagesUsage(usage, this.#usage);
    return this.#usage === undefined ? [] : [{ kind: "usage", usage: this.#usage }];
  }

  #fail(error: StreamEvent): readonly StreamEvent[] {
    this.#isOver = true;
    return [error];
  }
}

/** An error of a stream has no status: its kind says which one it would be. */
function withoutStatus({ kind, message }: ReturnType<typeof readMessagesError>) {
  return { kind, message };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
