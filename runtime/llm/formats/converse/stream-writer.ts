import type { JsonObject } from "../../../cel/variables.ts";
import type { OriginalRequest, StreamWriter } from "../../chat/formats.ts";
import type { StopReason } from "../../chat/response.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import { converseErrorEvent } from "./errors.ts";
import { citedPage, converseStop, redactedContent } from "./response-writer.ts";
import { converseEvent } from "./stream-framing.ts";
import { converseMetadata } from "./usage.ts";

/** Block that is being written: its kind, or the index of a call. */
type OpenBlock = "text" | "reasoning" | number;

/** Writes a stream as ConverseStream does: blocks in sequence, even if their pieces are interleaved. */
export class ConverseStreamWriter implements StreamWriter {
  readonly #request: OriginalRequest;
  #hasStarted = false;
  #index = -1;
  #open: OpenBlock | undefined;
  /** Pieces of calls that wait for the end of the current one. */
  readonly #waiting = new Map<number, StreamEvent[]>();
  #calls = 0;
  #stop: StopReason = "end";
  #usage: Usage | undefined;

  constructor(request: OriginalRequest) {
    this.#request = request;
  }

  write(event: StreamEvent): string {
    switch (event.kind) {
      case "start":
        return this.#start();
      case "text":
        return this.#piece("text", { text: event.text });
      case "citation":
        return this.#open === "text" ? this.#delta({ citation: citedPage(event.page) }) : "";
      case "reasoning":
        return this.#piece("reasoning", { reasoningContent: { text: event.text } });
      case "signature":
        return this.#piece("reasoning", { reasoningContent: { signature: event.signature } });
      case "redacted-reasoning": {
        const data = { redactedContent: redactedContent(event.data) };
        return this.#close() + this.#piece("reasoning", { reasoningContent: data }) + this.#close();
      }
      case "tool-call":
      case "tool-input":
        return this.#tool(event);
      case "stop":
        this.#stop = event.reason;
        return "";
      case "usage":
        this.#usage = event.usage;
        return "";
      // Clients do not expect events that are not part of the API.
      case "ping":
      case "search":
      case "hosted":
        return "";
      case "error":
        return converseErrorEvent(event.error);
      case "end":
        return this.#end();
    }
  }

  #start(): string {
    if (this.#hasStarted) return "";
    this.#hasStarted = true;
    return converseEvent("messageStart", { role: "assistant" });
  }

  #piece(kind: "text" | "reasoning", delta: JsonObject): string {
    if (this.#open === kind) return this.#delta(delta);
    return this.#close() + this.#waitingCalls() + this.#begin(kind) + this.#delta(delta);
  }

  #tool(event: Extract<StreamEvent, { kind: "tool-call" | "tool-input" }>): string {
    if (typeof this.#open === "number" && this.#open !== event.index) {
      const waiting = this.#waiting.get(event.index);
      if (waiting === undefined) this.#waiting.set(event.index, [event]);
      else waiting.push(event);
      return "";
    }
    if (event.kind === "tool-input") return this.#delta({ toolUse: { input: event.text } });
    this.#calls += 1;
    const { id, name, index } = event;
    const begun = this.#close() + this.#begin(index);
    const start = { toolUse: { toolUseId: id, name } };
    return begun + converseEvent("contentBlockStart", { contentBlockIndex: this.#index, start });
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

  /** Begins a block. Only calls have an event of their own for it. */
  #begin(open: OpenBlock): string {
    this.#index += 1;
    this.#open = open;
    return this.#start();
  }

  #delta(delta: JsonObject): string {
    return converseEvent("contentBlockDelta", { contentBlockIndex: this.#index, delta });
  }

  #close(): string {
    if (this.#open === undefined) return "";
    this.#open = undefined;
    return converseEvent("contentBlockStop", { contentBlockIndex: this.#index });
  }

  #end(): string {
    const blocks = this.#start() + this.#close() + this.#waitingCalls();
    const stop = this.#calls > 0 && this.#stop === "end" ? "tool-calls" : this.#stop;
    return (
      blocks +
      converseEvent("messageStop", { stopReason: converseStop(stop) }) +
      converseEvent("metadata", converseMetadata(this.#usage, this.#request))
    );
  }
}
