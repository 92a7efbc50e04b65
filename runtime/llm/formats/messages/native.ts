import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { NativeFormat, ResponseFacts, StreamWatcher } from "../../chat/formats.ts";
import { errorOfEvent } from "../../chat/llm-error.ts";
import type { Usage } from "../../chat/usage.ts";
import { eventData } from "../event-bytes.ts";
import { parseObject } from "../parse-object.ts";
import { messagesErrors, readMessagesError } from "./errors.ts";
import { messagesUsageReads, readMessagesUsage } from "./usage.ts";

/** Anthropic's Messages API on both sides. */
export const messagesNative: NativeFormat = {
  name: "messages",
  ...messagesErrors,
  reads: { id: true, model: true, usage: messagesUsageReads, stop_reason: true },
  readResponse: (body) => readFacts(body, undefined),
  watchStream: () => new MessagesWatcher(),
  readError: readMessagesError,
  adapt: () => {},
};

function readFacts(message: JsonObject, before: Usage | undefined): ResponseFacts {
  const { id, model, stop_reason: finish } = message;
  return {
    ...(typeof id === "string" && { id }),
    ...(typeof model === "string" && { model }),
    ...(typeof finish === "string" && { finish }),
    usage: readMessagesUsage(message.usage, before),
  };
}

class MessagesWatcher implements StreamWatcher {
  facts: ResponseFacts = {};
  readonly hasEnded = false;

  see(event: Buffer): ReturnType<StreamWatcher["see"]> {
    const text = event.toString("latin1");
    if (text.includes('"content_block_delta"')) return "content";
    if (text.includes('"content_block_')) return "other";
    const data = eventData(event);
    const message = data === undefined ? undefined : parseObject(data);
    if (message === undefined) return "other";
    switch (message.type) {
      case "message_start":
        return this.#count(isJsonObject(message.message) ? message.message : {});
      case "message_delta":
        return this.#count({
          ...(isJsonObject(message.delta) && message.delta),
          usage: message.usage,
        });
      case "message_stop":
        return "end";
      case "error":
        return errorOfEvent(readMessagesError(502, data ?? ""));
      default:
        return "other";
    }
  }

  #count(message: JsonObject): "other" {
    this.facts = { ...this.facts, ...readFacts(message, this.facts.usage) };
    return "other";
  }
}
