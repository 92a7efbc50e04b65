import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../../json/json-object.ts";
import type { LostFields } from "../../chat/response-fields.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import { cutOff, notJson, unreadable } from "../broken-stream.ts";
import { readFailure } from "../completions/errors.ts";
import { isFilledText, parseObject, providerText } from "../parse-object.ts";
import { withTier } from "../service-tiers.ts";
import type { SseEventReader } from "../sse-stream-reader.ts";
import { readPages } from "../web-pages.ts";
import { NumberedEvent } from "./numbered-event.ts";
import { outputItemFields, responsesResponseFields } from "./response-fields.ts";
import { blocksOf, encryptedOf, readEnd } from "./response-reader.ts";
import { readResponsesUsage } from "./usage.ts";

/** Content of an item that the client has received. */
interface OpenItem {
  /** Number of the call; `undefined` for other items. */
  readonly call: number | undefined;
  hasContent: boolean;
}

/** Reads a stream of the Responses API. */
export class ResponsesEventReader implements SseEventReader {
  /** By their index in the output. */
  readonly #items = new Map<unknown, OpenItem>();
  #calls = 0;
  #hasStarted = false;
  /** The event before, if it was a text: most later ones differ only in that and in their number. */
  #repeated: NumberedEvent | undefined;
  readonly #lost: LostFields | undefined;

  /** `lost`: takes the fields that other formats do not express. */
  constructor(lost?: LostFields) {
    this.#lost = lost;
  }

  read(data: string): readonly StreamEvent[] {
    const text = this.#repeated?.textOf(data);
    if (text !== undefined) return [{ kind: "text", text }];
    this.#repeated = undefined;
    if (data === "[DONE]") return [cutOff];
    const event = parseObject(data);
    if (event === undefined) return [notJson];
    switch (event.type) {
      case "response.created":
      case "response.in_progress":
        return this.#start(responseOf(event));
      case "response.output_item.added":
        return isJsonObject(event.item) ? this.#add(event.output_index, event.item) : [];
      case "response.output_text.delta":
        return this.#text(event, data);
      case "response.refusal.delta":
        return this.#piece(event, (text) => ({ kind: "text", text, isRefusal: true }));
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#piece(event, (text) => ({ kind: "reasoning", text }));
      case "response.reasoning_summary_part.added": {
        const isFirst = event.summary_index === 0 || event.summary_index === undefined;
        return isFirst ? [] : [{ kind: "reasoning", text: "\n\n" }];
      }
      case "response.output_text.annotation.added":
        return readPages([event.annotation]).map((page) => ({ kind: "citation", page }));
      case "response.function_call_arguments.delta":
        return this.#input(event);
      case "response.output_item.done":
        return isJsonObject(event.item) ? this.#complete(event.output_index, event.item) : [];
      case "response.completed":
      case "response.incomplete":
        return this.#end(responseOf(event));
      case "response.failed":
        return [{ kind: "error", error: readFailure(responseOf(event).error) }];
      case "error": {
        const { error, ...flat } = event;
        return [{ kind: "error", error: readFailure(error ?? flat) }];
      }
      case "keepalive":
        return [{ kind: "ping" }];
      default:
        return [];
    }
  }

  close(): readonly StreamEvent[] {
    return [cutOff];
  }

  #start({ id, model }: JsonObject): readonly StreamEvent[] {
    if (this.#hasStarted) return [];
    this.#hasStarted = true;
    return [{ kind: "start", id: providerText(id), model: providerText(model) ?? "" }];
  }

  #add(index: unknown, item: JsonObject): readonly StreamEvent[] {
    if (item.type !== "function_call") {
      this.#items.set(index, { call: undefined, hasContent: false });
      return [];
    }
    const call = this.#calls;
    this.#calls += 1;
    this.#items.set(index, { call, hasContent: false });
    const id = providerText(item.call_id) ?? providerText(item.id);
    const name = providerText(item.name);
    if (id === undefined || name === undefined) return [unreadable];
    return [{ kind: "tool-call", index: call, id, name }];
  }

  #text(event: JsonObject, data: string): readonly StreamEvent[] {
    const events = this.#piece(event, (text) => ({ kind: "text", text }));
    if (events.length > 0) this.#repeated = NumberedEvent.of(data, "delta");
    return events;
  }

  #piece(
    { output_index: index, delta }: JsonObject,
    event: (text: string) => StreamEvent,
  ): readonly StreamEvent[] {
    if (!isFilledText(delta)) return [];
    const item = this.#items.get(index) ?? { call: undefined, hasContent: true };
    item.hasContent = true;
    this.#items.set(index, item);
    return [event(delta)];
  }

  #input({ output_index: index, delta }: JsonObject): readonly StreamEvent[] {
    const item = this.#items.get(index);
    if (item?.call === undefined) return [unreadable];
    if (!isFilledText(delta)) return [];
    item.hasContent = true;
    return [{ kind: "tool-input", index: item.call, text: delta }];
  }

  /** Reads the content of an item that came in no pieces, and the signature of reasoning. */
  #complete(index: unknown, item: JsonObject): readonly StreamEvent[] {
    const added = this.#items.has(index) ? [] : this.#add(index, item);
    this.#lost?.note(item, outputItemFields, "output[]");
    const { call, hasContent = false } = this.#items.get(index) ?? {};
    const signature = item.type === "reasoning" ? encryptedOf(item) : undefined;
    const signed: readonly StreamEvent[] =
      signature === undefined ? [] : [{ kind: "signature", signature }];
    return [...added, ...(hasContent ? [] : wholeEvents(item, call)), ...signed];
  }

  #end(response: JsonObject): readonly StreamEvent[] {
    this.#lost?.note(response, responsesResponseFields);
    const usage = withTier(readResponsesUsage(response.usage), "openai", response.service_tier);
    const reason = readEnd(response, this.#calls > 0);
    return [
      ...this.#start(response),
      ...this.#missed(response),
      { kind: "stop", reason, stopSequence: undefined },
      ...(usage === undefined ? [] : [{ kind: "usage" as const, usage }]),
      { kind: "end" },
    ];
  }

  /** Reads the items of a stream that has only whole responses. */
  #missed({ output }: JsonObject): readonly StreamEvent[] {
    if (this.#items.size > 0 || !Array.isArray(output)) return [];
    return output.flatMap((item, index) => (isJsonObject(item) ? this.#complete(index, item) : []));
  }
}

function responseOf({ response }: JsonObject): JsonObject {
  return isJsonObject(response) ? response : {};
}

/** Returns the content of an item. */
function wholeEvents(item: JsonObject, call: number | undefined): readonly StreamEvent[] {
  try {
    return blocksOf(item).flatMap((block): readonly StreamEvent[] => {
      switch (block.kind) {
        case "search":
        case "hosted":
          return [block];
        case "text":
          return [
            { kind: "text", text: block.text, ...(block.isRefusal && { isRefusal: true }) },
            ...(block.citations ?? []).map((page) => ({ kind: "citation" as const, page })),
          ];
        case "reasoning":
          return block.text === "" ? [] : [{ kind: "reasoning", text: block.text }];
        case "tool-call":
          return call === undefined ? [] : [{ kind: "tool-input", index: call, text: block.input }];
        default:
          return [];
      }
    });
  } catch {
    return [unreadable];
  }
}
