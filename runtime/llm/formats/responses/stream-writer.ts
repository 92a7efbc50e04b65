import type { JsonObject } from "../../../cel/variables.ts";
import type { OriginalRequest, StreamWriter } from "../../chat/formats.ts";
import type { CodeBlock, McpBlock } from "../../chat/hosted-tools.ts";
import type { LlmError } from "../../chat/llm-error.ts";
import type { StreamEvent } from "../../chat/stream-event.ts";
import type { Usage } from "../../chat/usage.ts";
import { CitedText, type SearchBlock, type WebPage } from "../../chat/web-search.ts";
import { agentCallItem, freeText } from "./agent-calls.ts";
import { type AgentTool, AgentTools } from "./agent-tools.ts";
import { eventText, failure, failureEvents } from "./errors.ts";
import { hostedEvents, hostedItem, hostedPrefix } from "./hosted-items.ts";
import {
  callSignatureItem,
  type ItemStatus,
  messageItem,
  reasoningItem,
  redactedItem,
  refusalPart,
  searchItem,
  signed,
  summaryPart,
  textAnnotation,
  textPart,
} from "./output-items.ts";
import { endStatus, newId, type ResponseEnd, responseObject } from "./response-object.ts";

/** An item in progress. */
interface OpenItem {
  readonly id: string;
  /** Index in the output. */
  readonly index: number;
  text: string;
}

interface OpenMessage extends OpenItem {
  readonly cited: CitedText;
  readonly annotations: JsonObject[];
  readonly isRefusal: boolean;
}

interface OpenReasoning extends OpenItem {
  signature: string;
}

interface OpenCall extends OpenItem {
  readonly call: { readonly id: string; readonly tool: AgentTool };
}

/**
 * Writes a stream as OpenAI's Responses API does: typed events with numbers, the last of which contains the whole response.
 */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #request: OriginalRequest;
  readonly #tools: AgentTools;
  readonly #createdAt = Math.floor(Date.now() / 1000);
  #id: string | undefined;
  #model: string;
  #sequence = 0;
  /** Events that are not returned yet. */
  #written = "";
  /** Complete items, by their index. */
  readonly #output: JsonObject[] = [];
  #items = 0;
  #message: OpenMessage | undefined;
  #reasoning: OpenReasoning | undefined;
  /** By the provider's index: pieces of several calls may be interleaved. */
  readonly #calls = new Map<number, OpenCall>();
  #stop: Extract<StreamEvent, { kind: "stop" }>["reason"] = "end";
  #usage: Usage | undefined;

  constructor(request: OriginalRequest) {
    this.#request = request;
    this.#tools = new AgentTools(request.body);
    this.#model = request.model;
  }

  write(event: StreamEvent): string {
    this.#take(event);
    const written = this.#written;
    this.#written = "";
    return written;
  }

  #take(event: StreamEvent): void {
    switch (event.kind) {
      case "start":
        if (event.model !== "") this.#model = event.model;
        this.#start(event.id);
        break;
      case "text":
        this.#addText(event.text, event.isRefusal === true);
        break;
      case "citation":
        this.#addCitation(event.page);
        break;
      case "search":
        this.#addSearch(event);
        break;
      case "hosted":
        if (event.tool !== "fetch") this.#addHosted(event);
        break;
      case "reasoning":
        this.#addReasoning(event.text);
        break;
      case "signature":
        this.#openReasoning().signature += event.signature;
        break;
      case "redacted-reasoning":
        this.#close("completed");
        this.#addWhole((id) => redactedItem(id, event.data));
        break;
      case "tool-call":
        this.#openCall(event);
        break;
      case "tool-input":
        this.#addInput(event.index, event.text);
        break;
      case "stop":
        this.#stop = event.reason;
        break;
      case "usage":
        this.#usage = event.usage;
        break;
      case "ping":
        this.#written += ": ping\n\n";
        break;
      case "error":
        this.#fail(event.error);
        break;
      case "end":
        this.#end();
        break;
    }
  }

  #start(id?: string): void {
    if (this.#id !== undefined) return;
    this.#id = id ?? newId("resp");
    const response = JSON.stringify(this.#response());
    this.#emit("response.created", `"response":${response}`);
    this.#emit("response.in_progress", `"response":${response}`);
  }

  #addText(text: string, isRefusal: boolean): void {
    const open = this.#message?.isRefusal === isRefusal ? this.#message : undefined;
    const message = open ?? this.#openMessage(isRefusal);
    message.text += text;
    const delta = `${contentOf(message)},"delta":${JSON.stringify(text)}`;
    if (isRefusal) {
      this.#emit("response.refusal.delta", delta);
      return;
    }
    message.cited.add(text);
    this.#emit("response.output_text.delta", `${delta},"logprobs":[]`);
  }

  #addCitation(page: WebPage): void {
    const message = this.#message;
    if (message === undefined || message.isRefusal) return;
    const added = textAnnotation(message.cited.cite(page));
    const at = `${contentOf(message)},"annotation_index":${message.annotations.length}`;
    message.annotations.push(added);
    const fields = `${at},"annotation":${JSON.stringify(added)}`;
    this.#emit("response.output_text.annotation.added", fields);
  }

  #addSearch(search: SearchBlock): void {
    this.#close("completed");
    const item = this.#newItem("ws");
    const done = searchItem(item.id, search);
    this.#added(item, { ...done, status: "in_progress" });
    for (const state of ["in_progress", "searching", "completed"]) {
      this.#emit(`response.web_search_call.${state}`, itemOf(item));
    }
    this.#done(item, done);
  }

  #addHosted(block: CodeBlock | McpBlock): void {
    this.#close("completed");
    const item = this.#newItem(hostedPrefix(block));
    const done = hostedItem(item.id, block);
    this.#added(item, { ...done, status: "in_progress" });
    for (const [type, members] of hostedEvents(block)) {
      const own = JSON.stringify(members).slice(1, -1);
      this.#emit(`response.${type}`, own === "" ? itemOf(item) : `${itemOf(item)},${own}`);
    }
    this.#done(item, done);
  }

  #openMessage(isRefusal: boolean): OpenMessage {
    this.#close("completed");
    const message: OpenMessage = {
      ...{ ...this.#newItem("msg"), cited: new CitedText(), annotations: [] },
      isRefusal,
    };
    this.#message = message;
    this.#added(message, messageItem(message.id, [], "in_progress"));
    this.#emit("response.content_part.added", partFields(contentOf(message), partOf(message)));
    return message;
  }

  #closeMessage(status: ItemStatus): void {
    const message = this.#message;
    if (message === undefined) return;
    this.#message = undefined;
    const { id } = message;
    const text = JSON.stringify(message.text);
    const part = partOf(message);
    const at = contentOf(message);
    if (message.isRefusal) this.#emit("response.refusal.done", `${at},"refusal":${text}`);
    else this.#emit("response.output_text.done", `${at},"text":${text},"logprobs":[]`);
    this.#emit("response.content_part.done", partFields(at, part));
    this.#done(message, messageItem(id, [part], status));
  }

  #addReasoning(text: string): void {
    const reasoning = this.#openReasoning();
    const at = summaryOf(reasoning);
    if (reasoning.text === "") {
      this.#emit("response.reasoning_summary_part.added", partFields(at, summaryPart("")));
    }
    reasoning.text += text;
    const delta = `"delta":${JSON.stringify(text)}`;
    this.#emit("response.reasoning_summary_text.delta", `${at},${delta}`);
  }

  #openReasoning(): OpenReasoning {
    if (this.#reasoning !== undefined) return this.#reasoning;
    this.#close("completed");
    const reasoning = { ...this.#newItem("rs"), signature: "" };
    this.#reasoning = reasoning;
    this.#added(reasoning, reasoningItem(reasoning.id, "", undefined));
    return reasoning;
  }

  #closeReasoning(): void {
    const reasoning = this.#reasoning;
    if (reasoning === undefined) return;
    this.#reasoning = undefined;
    const { id, text, signature } = reasoning;
    const at = summaryOf(reasoning);
    if (text !== "") {
      this.#emit("response.reasoning_summary_text.done", `${at},"text":${JSON.stringify(text)}`);
      this.#emit("response.reasoning_summary_part.done", partFields(at, summaryPart(text)));
    }
    this.#done(reasoning, reasoningItem(id, text, signed(signature)));
  }

  #openCall({ index, id, name, signature }: Extract<StreamEvent, { kind: "tool-call" }>): void {
    this.#closeReasoning();
    this.#closeMessage("completed");
    if (signature !== undefined) this.#addWhole((own) => callSignatureItem(own, signature));
    const call = { ...this.#newItem("fc"), call: { id, tool: this.#tools.of(name) } };
    this.#calls.set(index, call);
    this.#added(call, agentCallItem(call.id, { id, input: "" }, call.call.tool, "in_progress"));
  }

  #addInput(index: number, text: string): void {
    const call = this.#calls.get(index);
    if (call === undefined) return;
    call.text += text;
    // Other kinds have another form of input, which can only be read when it is complete.
    if (call.call.tool.kind !== "function") return;
    const delta = `"delta":${JSON.stringify(text)}`;
    this.#emit("response.function_call_arguments.delta", `${itemOf(call)},${delta}`);
  }

  #closeCalls(status: ItemStatus): void {
    for (const call of this.#calls.values()) {
      const { id, tool } = call.call;
      const input = call.text === "" ? "{}" : call.text;
      this.#inputDone(call, input);
      this.#done(call, agentCallItem(call.id, { id, input }, tool, status));
    }
    this.#calls.clear();
  }

  #inputDone(call: OpenCall, input: string): void {
    const { kind, name } = call.call.tool;
    if (kind === "function") {
      const done = `"name":${JSON.stringify(name)},"arguments":${JSON.stringify(input)}`;
      this.#emit("response.function_call_arguments.done", `${itemOf(call)},${done}`);
    } else if (kind === "custom") {
      const text = JSON.stringify(freeText(input));
      this.#emit("response.custom_tool_call_input.delta", `${itemOf(call)},"delta":${text}`);
      this.#emit("response.custom_tool_call_input.done", `${itemOf(call)},"input":${text}`);
    }
  }

  /** Completes open items. */
  #close(status: ItemStatus): void {
    this.#closeReasoning();
    this.#closeMessage(status);
    this.#closeCalls(status);
  }

  #newItem(prefix: Parameters<typeof newId>[0]): OpenItem {
    this.#start();
    const index = this.#items;
    this.#items += 1;
    return { id: newId(prefix), index, text: "" };
  }

  /** Writes a reasoning item that arrives in one piece. */
  #addWhole(make: (id: string) => JsonObject): void {
    const item = this.#newItem("rs");
    const object = make(item.id);
    this.#added(item, object);
    this.#done(item, object);
  }

  #added({ index }: OpenItem, item: JsonObject): void {
    this.#emit("response.output_item.added", itemFields(index, item));
  }

  #done({ index }: OpenItem, item: JsonObject): void {
    this.#output[index] = item;
    this.#emit("response.output_item.done", itemFields(index, item));
  }

  #end(): void {
    this.#start();
    const end: ResponseEnd = { kind: "stopped", stop: this.#stop, usage: this.#usage };
    const status = endStatus(end);
    this.#close(status === "incomplete" ? "incomplete" : "completed");
    this.#emit(`response.${status}`, `"response":${JSON.stringify(this.#response(end))}`);
  }

  #fail(error: LlmError): void {
    this.#start();
    const response = this.#response({ kind: "failed", ...failure(error) });
    this.#written += failureEvents(error, response, this.#sequence);
  }

  #response(end?: ResponseEnd): JsonObject {
    return responseObject(this.#request, {
      id: this.#id ?? "",
      createdAt: this.#createdAt,
      model: this.#model,
      // Skips the holes of items that are still open.
      output: Object.values(this.#output),
      ...(end && { end }),
    });
  }

  #emit(type: string, fields: string): void {
    this.#written += eventText(
      type,
      `{"type":"${type}","sequence_number":${this.#sequence},${fields}}`,
    );
    this.#sequence += 1;
  }
}

function partOf({ text, annotations, isRefusal }: OpenMessage): JsonObject {
  return isRefusal ? refusalPart(text) : textPart(text, annotations);
}

function itemOf({ id, index }: OpenItem): string {
  return `"item_id":"${id}","output_index":${index}`;
}

function contentOf(item: OpenItem): string {
  return `${itemOf(item)},"content_index":0`;
}

function summaryOf(item: OpenItem): string {
  return `${itemOf(item)},"summary_index":0`;
}

function partFields(at: string, part: JsonObject): string {
  return `${at},"part":${JSON.stringify(part)}`;
}

function itemFields(index: number, item: JsonObject): string {
  return `"output_index":${index},"item":${JSON.stringify(item)}`;
}
