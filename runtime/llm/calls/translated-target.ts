import type { JsonObject } from "../../cel/variables.ts";
import type { JsonBody } from "../../json/json-body.ts";
import { refuseUnkept } from "../chat/features.ts";
import { isOfLaterCall, withFirstCall } from "../chat/first-call.ts";
import type {
  ClientFormat,
  Dialect,
  ResponseFacts,
  StreamReader,
  StreamWriter,
  UpstreamFormat,
} from "../chat/formats.ts";
import { type LlmError, LlmRefusal } from "../chat/llm-error.ts";
import type { ChatRequest } from "../chat/request.ts";
import type { ChatResponse, StopReason } from "../chat/response.ts";
import { isContent, type StreamEvent } from "../chat/stream-event.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import { parseObject } from "../formats/parse-object.ts";
import { type ChatCall, editedObject } from "./chat-call.ts";
import { MAX_EVENT } from "./limits.ts";
import type { LlmTarget, StreamRelay, TargetSettings } from "./target.ts";
import { ClientToolNames, withToolNames } from "./tool-names.ts";

/** How a provider is asked that speaks another format than the client. */
export interface TranslatedSettings extends TargetSettings {
  readonly client: ClientFormat;
  readonly format: UpstreamFormat;
  readonly dialect: Dialect;
}

/** A provider that speaks another format than the client: requests and responses are translated. */
export function translatedTarget(settings: TranslatedSettings): LlmTarget {
  const { client, format, dialect, ...target } = settings;
  // Calls whose clients want one call of a tool at a time, which the provider does not know.
  const serial = new WeakSet<ChatCall>();
  return {
    ...target,
    isNative: false,
    requestBody: (call, body) => {
      const request = readEdited(client, call, body);
      refuseUnkept(request.features, format.fates, dialect.provider);
      refuseForcedNothing(request);
      if (request.parallelTools === false && format.fates.parallelTools === "changed") {
        serial.add(call);
      }
      const named = withToolNames(request, format.toolNames);
      return format.writeRequest(named, dialect, call.headers);
    },
    readError: format.readError,
    readWhole: ({ text }, call, model) => {
      const body = parseObject(text);
      if (body === undefined) throw new Error("the response is no JSON object");
      const read = withClientNames(format.readResponse(body), toolNamesOf(client, call.body));
      const response = serial.has(call) ? withFirstCall(read) : read;
      const { id, model: named, usage, stop } = response;
      // Not every format says which model it was.
      const complete = named === "" ? { ...response, model } : response;
      return {
        text: client.writeResponse(complete, { body: call.body, model }),
        facts: {
          id,
          model: named === "" ? undefined : named,
          usage,
          finish: finishReasons[stop],
        },
      };
    },
    openStream: (call, model) => {
      const writer = client.openStream({ body: call.body, model });
      const names = toolNamesOf(client, call.body);
      return new TranslatedStream(format.openStream(MAX_EVENT), writer, names, serial.has(call));
    },
  };
}

/** Mistakes are named by their place in what the client sent, before anything was added. */
function readEdited(client: ClientFormat, call: ChatCall, body: JsonBody): ChatRequest {
  try {
    return client.readRequest(editedObject(call, body));
  } catch (error) {
    if (body.isChanged && error instanceof LlmRefusal) client.readRequest(call.body);
    throw error;
  }
}

/** Without tools a request would go out as if nothing had been asked for. */
function refuseForcedNothing({ toolChoice, tools, features }: ChatRequest): void {
  const isForced = toolChoice?.kind === "required" || toolChoice?.kind === "tool";
  if (!isForced || tools.length > 0) return;
  const field = features.get("toolChoice");
  const message = `"${field}" asks for a tool, and there is none to call`;
  throw new LlmRefusal({ kind: "invalid", message, field });
}

function toolNamesOf(client: ClientFormat, body: JsonObject): ClientToolNames {
  return new ClientToolNames(() => client.readRequest(body).tools);
}

function withClientNames(response: ChatResponse, names: ClientToolNames): ChatResponse {
  const blocks = response.blocks.map((block) =>
    block.kind === "tool-call" ? { ...block, name: names.of(block.name) } : block,
  );
  return { ...response, blocks };
}

/** Reads the provider's stream, and writes the client's. */
class TranslatedStream implements StreamRelay {
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #names: ClientToolNames;
  /** Of the calls of tools the first one is passed on alone. */
  readonly #isSerial: boolean;
  readonly ping: string;
  facts: ResponseFacts = {};
  pieces = 0;
  #state: StreamStep["state"] = "open";

  constructor(
    reader: StreamReader,
    writer: StreamWriter,
    names: ClientToolNames,
    isSerial: boolean,
  ) {
    this.#reader = reader;
    this.#writer = writer;
    this.#names = names;
    this.#isSerial = isSerial;
    this.ping = writer.write({ kind: "ping" });
  }

  push(chunk: Buffer): StreamStep {
    return this.#pass(this.#reader.push(chunk));
  }

  close(): StreamStep {
    return this.#pass(this.#reader.end());
  }

  fail(error: LlmError): string {
    return this.#writer.write({ kind: "error", error });
  }

  #pass(events: readonly StreamEvent[]): StreamStep {
    let text = "";
    let hasContent = false;
    for (const event of events) {
      if (event.kind === "error") {
        this.#state = event.error;
        break;
      }
      if (this.#isSerial && isOfLaterCall(event)) continue;
      this.#note(event);
      text += this.#writer.write(this.#named(event));
      if (isContent(event)) {
        hasContent = true;
        this.pieces += 1;
      }
      if (event.kind === "end") this.#state = "ended";
    }
    return { output: text === "" ? [] : [text], hasContent, state: this.#state };
  }

  #named(event: StreamEvent): StreamEvent {
    if (event.kind !== "tool-call") return event;
    return { ...event, name: this.#names.of(event.name) };
  }

  #note(event: StreamEvent): void {
    if (event.kind === "start") {
      const { id, model } = event;
      this.facts = { ...this.facts, id, model: model === "" ? undefined : model };
    } else if (event.kind === "usage") this.facts = { ...this.facts, usage: event.usage };
    else if (event.kind === "stop") {
      this.facts = { ...this.facts, finish: finishReasons[event.reason] };
    }
  }
}

/** As logs and spans name them, whatever the provider called them: by OpenAI's words, as OpenTelemetry's conventions do. */
const finishReasons: { readonly [Reason in StopReason]: string } = {
  end: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  filtered: "content_filter",
  pause: "pause",
};
