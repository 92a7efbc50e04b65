import type { JsonObject } from "../../../cel/variables.ts";
import { isJsonObject } from "../../chat/request-object.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import { cutOff, notJson } from "../broken-stream.ts";
import { parseObject } from "../parse-object.ts";
import type { SseEventReader } from "../sse-stream-reader.ts";
import { readCompletionsError } from "./errors.ts";
import { readFinish, thoughtSignature } from "./response-reader.ts";
import { readCompletionsUsage } from "./usage.ts";

/** Reads a stream of chat completions. */
export class CompletionsEventReader implements SseEventReader {
  #hasStarted = false;
  #hasStopped = false;
  /** Arguments of each call so far, by its index. */
  readonly #calls = new Map<number, CallArguments>();
  /** Content that arrived before the arguments of a call were complete. Other formats cannot interleave them. */
  #held: StreamEvent[] = [];

  read(data: string): readonly StreamEvent[] {
    if (data === "[DONE]") return [...this.#release(), { kind: "end" }];
    const chunk = parseObject(data);
    if (chunk === undefined) return [notJson];
    if (chunk.error !== undefined && chunk.error !== null) {
      return [{ kind: "error", error: readCompletionsError(502, data) }];
    }
    const events: StreamEvent[] = [];
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      const { id, model } = chunk;
      events.push({
        kind: "start",
        id: typeof id === "string" && id !== "" ? id : undefined,
        model: typeof model === "string" ? model : "",
      });
    }
    const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
    if (isJsonObject(choice)) this.#readChoice(choice, events);
    const usage = readCompletionsUsage(chunk.usage);
    if (usage !== undefined) events.push({ kind: "usage", usage });
    return events;
  }

  /** Some servers omit the end mark: a finish reason counts as an end too. */
  close(): readonly StreamEvent[] {
    return [...this.#release(), this.#hasStopped ? { kind: "end" } : cutOff];
  }

  #readChoice(choice: JsonObject, events: StreamEvent[]): void {
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const content = contentOf(delta);
    if (content.length > 0 && this.#isCalling) this.#held.push(...content);
    else events.push(...content);
    const calls = Array.isArray(delta.tool_calls) ? delta.tool_calls.filter(isJsonObject) : [];
    for (const call of calls) this.#readCall(call, events);
    if (this.#held.length > 0 && !this.#isCalling) events.push(...this.#release());
    if (typeof choice.finish_reason === "string" && !this.#hasStopped) {
      this.#hasStopped = true;
      events.push(...this.#release());
      const reason = readFinish(choice.finish_reason, this.#calls.size > 0);
      events.push({ kind: "stop", reason, stopSequence: undefined });
    }
  }

  /** Whether the arguments of a call are incomplete. */
  get #isCalling(): boolean {
    return this.#calls.values().some((each) => !each.areComplete);
  }

  #release(): readonly StreamEvent[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  #readCall(call: JsonObject, events: StreamEvent[]): void {
    const named = isJsonObject(call.function) ? call.function : {};
    const index = typeof call.index === "number" ? call.index : this.#calls.size;
    let called = this.#calls.get(index);
    if (called === undefined) {
      called = new CallArguments();
      this.#calls.set(index, called);
      const id = typeof call.id === "string" ? call.id : `call_${index}`;
      const name = typeof named.name === "string" ? named.name : "";
      events.push({ kind: "tool-call", index, id, name, signature: thoughtSignature(call) });
    }
    const text = named.arguments;
    if (typeof text !== "string" || text === "") return;
    called.add(text);
    events.push({ kind: "tool-input", index, text });
  }
}

/** Arguments of a call as they arrive. They are parsed only where they may be complete. */
class CallArguments {
  #text = "";
  #areComplete: boolean | undefined;

  add(text: string): void {
    this.#text += text;
    this.#areComplete = undefined;
  }

  /** Whether they are an object. */
  get areComplete(): boolean {
    this.#areComplete ??=
      this.#text.trimEnd().endsWith("}") && parseObject(this.#text) !== undefined;
    return this.#areComplete;
  }
}

/** Returns the reasoning and text of a chunk. */
function contentOf(delta: JsonObject): readonly StreamEvent[] {
  const events: StreamEvent[] = [];
  const reasoning = delta.reasoning_content ?? delta.reasoning;
  if (typeof reasoning === "string" && reasoning !== "") {
    events.push({ kind: "reasoning", text: reasoning });
  }
  const signature = delta.reasoning_signature;
  if (typeof signature === "string") events.push({ kind: "signature", signature });
  for (const text of [delta.content, delta.refusal]) {
    if (typeof text === "string" && text !== "") events.push({ kind: "text", text });
  }
  return events;
}
