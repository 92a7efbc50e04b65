import type { JsonObject } from "../../../cel/variables.ts";
import { type AwsEvent, AwsEventReader } from "../../../http/body/aws-event-stream.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { StreamReader } from "../../chat/formats.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import { corrupt, cutOff, eventTooLong, malformed, notJson, unreadable } from "../broken-stream.ts";
import { isFilledText, parseObject } from "../parse-object.ts";
import { kindOfException } from "./errors.ts";
import { readConverseStop, WITHOUT_CONTENT } from "./response-reader.ts";
import { readConverseUsage } from "./usage.ts";

/** Reads the binary stream of Bedrock's ConverseStream. Token counts follow the end of the message. */
export class ConverseStreamReader implements StreamReader {
  readonly #frames: AwsEventReader;
  readonly #events = new ConverseEvents();

  constructor(limit: number) {
    this.#frames = new AwsEventReader(limit);
  }

  push(chunk: Buffer): readonly StreamEvent[] {
    const events = this.#frames.push(chunk).flatMap((frame) => this.#events.read(frame));
    const { fault } = this.#frames;
    if (fault === undefined) return events;
    return [...events, ...this.#events.fail(fault === "too-long" ? eventTooLong : corrupt)];
  }

  end(): readonly StreamEvent[] {
    return this.#events.end();
  }
}

/** Reads the messages of such a stream. */
export class ConverseEvents {
  #isOver = false;
  #hasStopped = false;
  /** Provider's index of a block to the number of a call. */
  readonly #calls = new Map<unknown, number>();

  /** A stream may lack only its token counts. */
  end(): readonly StreamEvent[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    return [this.#hasStopped ? { kind: "end" } : cutOff];
  }

  /** Returns the events of a message; none after the end. */
  read({ headers, payload }: AwsEvent): readonly StreamEvent[] {
    if (this.#isOver) return [];
    const type = headers.get(":message-type");
    const fields = parseObject(payload.toString("utf8"));
    if (type === "exception" || type === "error") return this.#exception(headers, fields ?? {});
    if (fields === undefined) return this.fail(notJson);
    switch (headers.get(":event-type")) {
      case "messageStart":
        return [{ kind: "start", id: undefined, model: "" }];
      case "contentBlockStart":
        return this.#block(fields);
      case "contentBlockDelta":
        return this.#delta(
          fields.contentBlockIndex,
          isJsonObject(fields.delta) ? fields.delta : {},
        );
      case "messageStop":
        return this.#stop(fields.stopReason);
      case "metadata":
        return this.#last(fields.usage);
      default:
        return [];
    }
  }

  #block({ contentBlockIndex: index, start }: JsonObject): readonly StreamEvent[] {
    const begun = isJsonObject(start) ? start : {};
    const call = begun.toolUse;
    if (!isJsonObject(call)) return this.#withoutContent(begun);
    const { toolUseId: id, name } = call;
    if (typeof id !== "string" || typeof name !== "string") return this.fail(notJson);
    const count = this.#calls.size;
    this.#calls.set(index, count);
    return [{ kind: "tool-call", index: count, id, name }];
  }

  /** Fails for content that no other format has. */
  #withoutContent(object: JsonObject): readonly StreamEvent[] {
    return Object.keys(object).every((key) => WITHOUT_CONTENT.has(key))
      ? []
      : this.fail(unreadable);
  }

  #delta(index: unknown, delta: JsonObject): readonly StreamEvent[] {
    const { text, toolUse, reasoningContent } = delta;
    if (isFilledText(text)) return [{ kind: "text", text }];
    const call = this.#calls.get(index);
    if (isJsonObject(toolUse) && isFilledText(toolUse.input) && call !== undefined) {
      return [{ kind: "tool-input", index: call, text: toolUse.input }];
    }
    if (!isJsonObject(reasoningContent)) return this.#withoutContent(delta);
    const { text: thought, signature, redactedContent: data } = reasoningContent;
    if (isFilledText(thought)) return [{ kind: "reasoning", text: thought }];
    if (isFilledText(signature)) return [{ kind: "signature", signature }];
    return isFilledText(data) ? [{ kind: "redacted-reasoning", data }] : [];
  }

  #stop(value: unknown): readonly StreamEvent[] {
    const reason = readConverseStop(value);
    if (reason === undefined) return this.fail(malformed);
    this.#hasStopped = true;
    return [{ kind: "stop", reason, stopSequence: undefined }];
  }

  #last(counted: unknown): readonly StreamEvent[] {
    const usage = readConverseUsage(counted);
    const events: StreamEvent[] = usage === undefined ? [] : [{ kind: "usage", usage }];
    if (!this.#hasStopped) return events;
    this.#isOver = true;
    return [...events, { kind: "end" }];
  }

  #exception(
    headers: AwsEvent["headers"],
    { message, Message: capital }: JsonObject,
  ): readonly StreamEvent[] {
    const name = headers.get(":exception-type") ?? headers.get(":error-code") ?? "";
    const found = message ?? capital ?? headers.get(":error-message");
    const text = isFilledText(found) ? found : name || "the provider aborted the stream";
    const kind = kindOfException(name, 502, text);
    return this.fail({ kind: "error", error: { kind, message: text } });
  }

  /** Ends the stream with an error, if it has not ended. */
  fail(error: StreamEvent): readonly StreamEvent[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    return [error];
  }
}
