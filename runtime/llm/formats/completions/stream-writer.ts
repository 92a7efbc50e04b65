import { isJsonObject } from "../../../json/json-object.ts";
import type { OriginalRequest, StreamWriter } from "../../chat/formats.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import { CitedText } from "../../chat/web-search.ts";
import { freeText } from "../responses/agent-calls.ts";
import { tierWord } from "../service-tiers.ts";
import { customNames } from "./custom-tools.ts";
import { completionsErrorEvent } from "./errors.ts";
import { hasFunctions } from "./legacy-functions.ts";
import { finishReason, messageAnnotation } from "./response-writer.ts";
import { completionsUsage } from "./usage.ts";

/** Writes a stream as OpenAI's chat completions do: chunks, then usage if the client requested it, then `[DONE]`. */
export class CompletionsStreamWriter implements StreamWriter {
  readonly #wantsUsage: boolean;
  readonly #created = Math.floor(Date.now() / 1000);
  /** Start of each chunk, up to its `choices`. */
  #head = "";
  #id: string | undefined;
  #model: string;
  /** Provider's index of a call to the client's, which is dense. */
  readonly #calls = new Map<number, number>();
  /** The client's indexes of calls without arguments so far. */
  readonly #empty = new Set<number>();
  /** Names of tools whose input is any text, and the inputs of their calls by the client's index. */
  readonly #custom: ReadonlySet<string>;
  readonly #inputs = new Map<number, string>();
  /** Whether the request uses `functions`, whose calls have another form. */
  readonly #isLegacy: boolean;
  readonly #cited = new CitedText();
  #usage: Usage | undefined;

  constructor({ body, model }: OriginalRequest) {
    const options = body.stream_options;
    this.#wantsUsage = isJsonObject(options) && options.include_usage === true;
    this.#model = model;
    this.#custom = customNames(body);
    this.#isLegacy = hasFunctions(body);
  }

  write(event: StreamEvent): string {
    switch (event.kind) {
      case "start":
        this.#id = event.id;
        this.#model = event.model === "" ? this.#model : event.model;
        return this.#first();
      case "text":
        if (event.isRefusal) return this.#delta(`{"refusal":${JSON.stringify(event.text)}}`);
        this.#cited.add(event.text);
        return this.#delta(`{"content":${JSON.stringify(event.text)}}`);
      case "reasoning":
        return this.#delta(`{"reasoning_content":${JSON.stringify(event.text)}}`);
      case "signature":
        return this.#delta(`{"reasoning_signature":${JSON.stringify(event.signature)}}`);
      case "citation": {
        const cited = JSON.stringify(messageAnnotation(this.#cited.cite(event.page)));
        return this.#delta(`{"annotations":[${cited}]}`);
      }
      case "search":
      case "hosted":
      case "redacted-reasoning":
        return "";
      case "tool-call":
        return this.#call(event);
      case "tool-input": {
        const index = this.#calls.get(event.index) ?? 0;
        const input = this.#inputs.get(index);
        if (input !== undefined) {
          this.#inputs.set(index, input + event.text);
          return "";
        }
        this.#empty.delete(index);
        return this.#arguments(index, event.text);
      }
      case "stop": {
        const inputs = this.#customInputs();
        const last = this.#delta(
          "{}",
          finishReason(event.reason, this.#calls.size > 0, this.#isLegacy),
        );
        return event.reason === "length"
          ? inputs + last
          : `${this.#emptyArguments()}${inputs}${last}`;
      }
      case "usage":
        this.#usage = event.usage;
        return "";
      case "ping":
        return ": ping\n\n";
      case "error":
        return completionsErrorEvent(event.error);
      case "end":
        return `${this.#last()}data: [DONE]\n\n`;
    }
  }

  #first(): string {
    if (this.#head !== "") return "";
    const id = JSON.stringify(this.#id ?? `chatcmpl-${crypto.randomUUID()}`);
    const model = JSON.stringify(this.#model);
    this.#head = `data: {"id":${id},"object":"chat.completion.chunk","created":${this.#created},"model":${model},`;
    return this.#delta('{"role":"assistant","content":""}');
  }

  #call({ index, id, name, signature }: Extract<StreamEvent, { kind: "tool-call" }>): string {
    const at = this.#calls.size;
    this.#calls.set(index, at);
    if (this.#custom.has(name)) {
      this.#inputs.set(at, "");
      const call = { index: at, id, type: "custom", custom: { name, input: "" } };
      return this.#delta(`{"tool_calls":[${JSON.stringify(call)}]}`);
    }
    this.#empty.add(at);
    if (this.#isLegacy) {
      return this.#delta(`{"function_call":${JSON.stringify({ name, arguments: "" })}}`);
    }
    const call = {
      index: at,
      id,
      type: "function",
      function: { name, arguments: "" },
      ...(signature !== undefined && {
        extra_content: { google: { thought_signature: signature } },
      }),
    };
    return this.#delta(`{"tool_calls":[${JSON.stringify(call)}]}`);
  }

  #arguments(index: number, text: string): string {
    const piece = JSON.stringify(text);
    if (this.#isLegacy) return this.#delta(`{"function_call":{"arguments":${piece}}}`);
    return this.#delta(`{"tool_calls":[{"index":${index},"function":{"arguments":${piece}}}]}`);
  }

  /** Clients parse arguments as JSON, also those of a call without any. */
  #emptyArguments(): string {
    const texts = [...this.#empty].map((index) => this.#arguments(index, "{}"));
    this.#empty.clear();
    return texts.join("");
  }

  /** Inputs of any text arrive in JSON, which is complete at the end only. */
  #customInputs(): string {
    const texts = [...this.#inputs].map(([index, input]) => {
      const call = JSON.stringify({ index, custom: { input: freeText(input) } });
      return this.#delta(`{"tool_calls":[${call}]}`);
    });
    this.#inputs.clear();
    return texts.join("");
  }

  #delta(delta: string, finish?: string): string {
    const start = this.#head === "" ? this.#first() : "";
    const reason = finish === undefined ? "null" : `"${finish}"`;
    const usage = this.#wantsUsage ? ',"usage":null' : "";
    const tier = finish === undefined ? "" : this.#tier();
    return `${start}${this.#head}"choices":[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${reason}}]${tier}${usage}}\n\n`;
  }

  #last(): string {
    if (!this.#wantsUsage || this.#usage === undefined) return "";
    const usage = JSON.stringify(completionsUsage(this.#usage));
    return `${this.#head}"choices":[]${this.#tier()},"usage":${usage}}\n\n`;
  }

  /** Returns the member for the tier, as far as it is known. */
  #tier(): string {
    const word = tierWord("openai", this.#usage?.tier);
    return word === undefined ? "" : `,"service_tier":"${word}"`;
  }
}
