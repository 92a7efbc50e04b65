import type { JsonObject } from "../../../cel/variables.ts";
import type { OriginalRequest, StreamWriter } from "../../chat/formats.ts";
import type { HostedBlock } from "../../chat/hosted-tools.ts";
import type { StopReason } from "../../chat/response.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import type { SearchBlock, WebPage } from "../../chat/web-search.ts";
import { generateContentErrorEvent } from "./errors.ts";
import { fetchedPages, programParts } from "./hosted-parts.ts";
import { replaySignature } from "./replayed-reasoning.ts";
import { callPart, candidateFinish, grounding, redactedPart } from "./response-writer.ts";
import { generateContentUsage } from "./usage.ts";

/** A call whose arguments arrive in pieces. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly signature: string | undefined;
  input: string;
}

/** Writes a stream as generateContent does: each event is a response with the next parts. Calls are in one piece. */
export class GenerateContentStreamWriter implements StreamWriter {
  #id: string = crypto.randomUUID();
  #model: string;
  #signature = "";
  readonly #calls = new Map<number, OpenCall>();
  readonly #searches: SearchBlock[] = [];
  readonly #cited: WebPage[] = [];
  readonly #hosted: HostedBlock[] = [];
  #stop: StopReason = "end";
  #usage: Usage | undefined;

  constructor({ model }: OriginalRequest) {
    this.#model = model;
  }

  write(event: StreamEvent): string {
    if (event.kind === "signature") {
      this.#signature += event.signature;
      return "";
    }
    return this.#signed() + this.#written(event);
  }

  #written(event: Exclude<StreamEvent, { kind: "signature" }>): string {
    switch (event.kind) {
      case "start":
        this.#id = event.id ?? this.#id;
        if (event.model !== "") this.#model = event.model;
        return "";
      case "text":
        return this.#part({ text: event.text });
      case "reasoning":
        return this.#part({ text: event.text, thought: true });
      case "redacted-reasoning":
        return this.#part(redactedPart(event.data));
      case "tool-call": {
        const { index, id, name, signature } = event;
        this.#calls.set(index, { id, name, signature, input: "" });
        return "";
      }
      case "tool-input": {
        const call = this.#calls.get(event.index);
        if (call !== undefined) call.input += event.text;
        return "";
      }
      case "search":
        this.#searches.push(event);
        return "";
      case "hosted":
        this.#hosted.push(event);
        return programParts(event)
          .map((part) => this.#part(part))
          .join("");
      case "citation":
        this.#cited.push(event.page);
        return "";
      case "stop":
        this.#stop = event.reason;
        return "";
      case "usage":
        this.#usage = event.usage;
        return "";
      case "ping":
        // Some clients do not read comments.
        return this.#event({});
      case "error":
        return generateContentErrorEvent(event.error);
      case "end":
        return this.#end();
    }
  }

  /** Writes the signature of the reasoning before. */
  #signed(): string {
    if (this.#signature === "") return "";
    const signed = replaySignature("signature", this.#signature);
    this.#signature = "";
    return this.#part({ text: "", thought: true, thoughtSignature: signed });
  }

  #end(): string {
    const parts = [...this.#calls.values()].map(({ id, name, input, signature }) =>
      callPart(id, name, input, signature),
    );
    const usage = this.#usage && { usageMetadata: generateContentUsage(this.#usage) };
    const last = {
      content: { role: "model", parts },
      finishReason: candidateFinish(this.#stop),
      index: 0,
      ...grounding(this.#searches, this.#cited),
      ...fetchedPages(this.#hosted),
    };
    return this.#event({ candidates: [last], ...usage });
  }

  #part(part: JsonObject): string {
    return this.#event({ candidates: [{ content: { role: "model", parts: [part] }, index: 0 }] });
  }

  #event(members: JsonObject): string {
    const response = { ...members, modelVersion: this.#model, responseId: this.#id };
    return `data: ${JSON.stringify(response)}\n\n`;
  }
}
