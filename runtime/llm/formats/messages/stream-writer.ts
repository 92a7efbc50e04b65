import type { JsonObject } from "../../../cel/variables.ts";
import type { OriginalRequest, StreamWriter } from "../../chat/formats.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import { messagesErrorEvent } from "./errors.ts";
import { hostedBlocks } from "./hosted-results.ts";
import {
  citation,
  searchBlocks,
  stopReason,
  textBlock,
  toolUseBlock,
  ZERO_USAGE,
} from "./response-writer.ts";
import { messagesDeltaUsage, messagesUsage } from "./usage.ts";

/** Block that is being written: its type, or the index of a call. */
type OpenBlock = "text" | "thinking" | number;

/** Writes a stream as Anthropic's Messages API does: blocks in sequence, even if their pieces are interleaved. */
export class MessagesStreamWriter implements StreamWriter {
  #model: string;
  #hasStarted = false;
  #index = -1;
  #open: OpenBlock | undefined;
  /** Pieces of calls that wait for the end of the current one. */
  readonly #waiting = new Map<number, StreamEvent[]>();
  #calls = 0;
  #stop: Extract<StreamEvent, { kind: "stop" }> | undefined;
  /** Whether the model refuses the request. */
  #isRefused = false;
  #usage: Usage | undefined;

  constructor({ model }: OriginalRequest) {
    this.#model = model;
  }

  write(event: StreamEvent): string {
    switch (event.kind) {
      case "start":
        return this.#start(event.id, event.model);
      case "text":
        this.#isRefused ||= event.isRefusal === true;
        return this.#piece("text", textBlock(""), textDelta(event.text));
      case "reasoning":
        return this.#piece(
          "thinking",
          { type: "thinking", thinking: "", signature: "" },
          `{"type":"thinking_delta","thinking":${JSON.stringify(event.text)}}`,
        );
      case "signature":
        return this.#piece(
          "thinking",
          { type: "thinking", thinking: "", signature: "" },
          `{"type":"signature_delta","signature":${JSON.stringify(event.signature)}}`,
        );
      case "redacted-reasoning":
        return this.#whole({ type: "redacted_thinking", data: event.data });
      case "search":
        return this.#wholes(searchBlocks(event));
      case "hosted":
        return this.#wholes(hostedBlocks(event));
      case "citation": {
        const cited = JSON.stringify(citation(event.page, ""));
        const delta = `{"type":"citations_delta","citation":${cited}}`;
        return this.#open === "text" ? this.#delta(delta) : "";
      }
      case "tool-call":
      case "tool-input":
        return this.#tool(event);
      case "stop":
        this.#stop = event;
        return "";
      case "usage":
        this.#usage = event.usage;
        return "";
      case "ping":
        return 'event: ping\ndata: {"type":"ping"}\n\n';
      case "error":
        return messagesErrorEvent(event.error);
      case "end":
        return this.#end();
    }
  }

  #start(id: string | undefined, model: string): string {
    if (this.#hasStarted) return "";
    this.#hasStarted = true;
    if (model !== "") this.#model = model;
    const message = {
      id: id ?? `msg_${crypto.randomUUID()}`,
      type: "message",
      role: "assistant",
      model: this.#model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      container: null,
      // Final counts follow with the last event, and replace these.
      usage: messagesUsage(this.#usage ?? ZERO_USAGE),
    };
    return sse("message_start", `{"type":"message_start","message":${JSON.stringify(message)}}`);
  }

  #piece(kind: "text" | "thinking", block: JsonObject, delta: string): string {
    if (this.#open === kind) return this.#delta(delta);
    return `${this.#close()}${this.#waitingCalls()}${this.#begin(block, kind)}${this.#delta(delta)}`;
  }

  #wholes(blocks: readonly JsonObject[]): string {
    return blocks.map((block) => this.#whole(block)).join("");
  }

  /** Writes a block that arrives in one piece. */
  #whole(block: JsonObject): string {
    return `${this.#close()}${this.#begin(block)}${this.#close()}`;
  }

  #tool(event: Extract<StreamEvent, { kind: "tool-call" | "tool-input" }>): string {
    if (typeof this.#open === "number" && this.#open !== event.index) {
      const waiting = this.#waiting.get(event.index);
      if (waiting === undefined) this.#waiting.set(event.index, [event]);
      else waiting.push(event);
      return "";
    }
    if (event.kind === "tool-input") {
      const text = JSON.stringify(event.text);
      return this.#delta(`{"type":"input_json_delta","partial_json":${text}}`);
    }
    this.#calls += 1;
    const { id, name, index } = event;
    return `${this.#close()}${this.#begin(toolUseBlock(id, name, {}), index)}`;
  }

  /** Writes the calls whose pieces arrived during another one. */
  #waitingCalls(): string {
    let text = "";
    for (const events of this.#waiting.values()) {
      text += this.#close();
      for (const event of events) text += this.write(event);
    }
    this.#waiting.clear();
    return text + this.#close();
  }

  #begin(block: JsonObject, open?: OpenBlock): string {
    this.#index += 1;
    this.#open = open ?? "text";
    const start = this.#hasStarted ? "" : this.#start(undefined, "");
    const data = `{"type":"content_block_start","index":${this.#index},"content_block":${JSON.stringify(block)}}`;
    return start + sse("content_block_start", data);
  }

  #delta(delta: string): string {
    const data = `{"type":"content_block_delta","index":${this.#index},"delta":${delta}}`;
    return sse("content_block_delta", data);
  }

  #close(): string {
    if (this.#open === undefined) return "";
    this.#open = undefined;
    return sse("content_block_stop", `{"type":"content_block_stop","index":${this.#index}}`);
  }

  #end(): string {
    const start = this.#start(undefined, "");
    const blocks = `${this.#close()}${this.#waitingCalls()}`;
    const { reason = "end", stopSequence = undefined } = this.#stop ?? {};
    const delta = {
      stop_reason: stopReason(this.#isRefused ? "filtered" : reason, this.#calls > 0),
      stop_sequence: stopSequence ?? null,
      stop_details: null,
      container: null,
    };
    const usage = messagesDeltaUsage(this.#usage ?? ZERO_USAGE);
    const last = `{"type":"message_delta","delta":${JSON.stringify(delta)},"usage":${JSON.stringify(usage)}}`;
    return `${start}${blocks}${sse("message_delta", last)}${sse("message_stop", '{"type":"message_stop"}')}`;
  }
}

function textDelta(text: string): string {
  return `{"type":"text_delta","text":${JSON.stringify(text)}}`;
}

function sse(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`;
}
