import type { JsonObject } from "../../../cel/variables.ts";
import { type AwsEvent, AwsEventReader } from "../../../http/body/aws-event-stream.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { StreamReader } from "../../chat/formats.ts";
import type { LostFields } from "../../chat/response-fields.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { WebPage } from "../../chat/web-search.ts";
import { corrupt, cutOff, eventTooLong, malformed, notJson, unreadable } from "../broken-stream.ts";
import { isFilledText, parseObject } from "../parse-object.ts";
import { kindOfException } from "./errors.ts";
import { converseEventFields } from "./response-fields.ts";
import { readCitation, readConverseStop, WITHOUT_CONTENT } from "./response-reader.ts";
import { readConverseUsage } from "./usage.ts";

/** Reads the binary stream of Bedrock's ConverseStream. Token counts follow the end of the message. */
export class ConverseStreamReader implements StreamReader {
  readonly #frames: AwsEventReader;
  readonly #events: ConverseEvents;

  /** `limit`: maximum bytes of one event. `lost`: takes the fields that other formats do not express. */
  constructor(limit: number, lost?: LostFields) {
    this.#frames = new AwsEventReader(limit);
    this.#events = new ConverseEvents(lost);
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
  /** Citations of the text that is being written. */
  #citations: readonly WebPage[] = [];
  readonly #lost: LostFields | undefined;

  /** `lost`: takes the fields that other formats do not express. */
  constructor(lost?: LostFields) {
    this.#lost = lost;
  }

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
    this.#lost?.note(fields, converseEventFields);
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
      case "contentBlockStop":
        return this.#blockEnd();
      case "messageStop":
        return this.#stop(fields.stopReason);
      case "metadata":
        return this.#last(fields);
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
    const { text, toolUse, reasoningContent, citation } = delta;
    if (isJsonObject(citation)) this.#citations = [...this.#citations, ...readCitation(citation)];
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

  /** Citations may arrive before the text that cites them. */
  #blockEnd(): readonly StreamEvent[] {
    const cited = this.#citations.map((page) => ({ kind: "citation" as const, page }));
    this.#citations = [];
    return cited;
  }

  #stop(value: unknown): readonly StreamEvent[] {
    const reason = readConverseStop(value);
    if (reason === undefined) return this.fail(malformed);
    this.#hasStopped = true;
    return [{ kind: "stop", reason, stopSequence: undefined }];
  }

  #last(metadata: JsonObject): readonly StreamEvent[] {
    const usage = readConverseUsage(metadata);
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
