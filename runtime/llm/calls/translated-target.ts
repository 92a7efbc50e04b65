import type { JsonObject } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import type { JsonBody } from "../../json/json-body.ts";
import type { ContentBlock } from "../chat/content.ts";
import { refuseUnsupported } from "../chat/features.ts";
import { isOfLaterCall, withFirstCall } from "../chat/first-call.ts";
import type {
  ClientFormat,
  Dialect,
  ResponseFacts,
  StreamReader,
  StreamWriter,
  UpstreamFormat,
} from "../chat/formats.ts";
import { type LlmError, LlmRefusal, translatedError } from "../chat/llm-error.ts";
import { type ChatRequest, hasHostedTools, type ToolChoice, type Turn } from "../chat/request.ts";
import type { ChatResponse, StopReason } from "../chat/response.ts";
import { LostFields } from "../chat/response-fields.ts";
import { isContent, type StreamEvent } from "../chat/stream-event.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import type { Usage } from "../chat/usage.ts";
import { parseObject } from "../formats/parse-object.ts";
import { lacksTier } from "../formats/service-tiers.ts";
import { isShortName, shortName } from "../formats/short-name.ts";
import { type ChatCall, editedObject } from "./chat-call.ts";
import type { dropUnsupported } from "./drop-unsupported.ts";
import type { FitRequest } from "./fit-model.ts";
import { withFittedSchemas } from "./fit-schemas.ts";
import { MAX_EVENT } from "./limits.ts";
import { noteDropped } from "./note-warning.ts";
import { responseWarning, type SchemaChecks, StreamedChecks } from "./schema-checks.ts";
import type { LlmTarget, StreamRelay, TargetSettings } from "./target.ts";

/** Settings of a provider that uses another format than the client. */
export interface TranslatedSettings extends TargetSettings {
  readonly client: ClientFormat;
  readonly format: UpstreamFormat;
  readonly dialect: Dialect;
  /** Fits requests to models whose traits are known; absent if none are. */
  readonly fitModel?: FitRequest;
  /** Leaves out fields that the provider does not support; absent if requests with them are refused. */
  readonly drop?: typeof dropUnsupported;
}

/** Creates a target for a provider that uses another format than the client: requests and responses are translated. */
export function translatedTarget(settings: TranslatedSettings): LlmTarget {
  const { client, format, dialect, drop, fitModel, ...target } = settings;
  // Calls that require one tool call at a time, which the provider cannot enforce.
  const serial = new WeakSet<ChatCall>();
  // Checks of responses whose schemas the provider does not enforce completely.
  const checks = new WeakMap<ChatCall, CallChecks>();
  // Headers that the requests of calls require.
  const headers = new WeakMap<ChatCall, readonly string[]>();
  return {
    ...target,
    isNative: false,
    headersFor: (call) => headers.get(call) ?? [],
    requestBody: (call, body, exchange) => {
      let excluded: readonly string[] = [];
      const write = (request: ChatRequest): string => {
        refuseUnsupported(request.features, format.support, dialect.provider);
        refuseForcedNothing(request);
        if (request.parallelTools === false && format.support.parallelTools === "changed") {
          serial.add(call);
        }
        const fitting = fitModel?.(request);
        excluded = fitting?.excluded ?? [];
        const fitted = fitting?.request ?? request;
        const { fitSchema, fitsAllTools = false } = format;
        const shaped =
          fitSchema === undefined
            ? { request: fitted }
            : withFittedSchemas(fitted, { fitSchema, fitsAllTools });
        // A further attempt may have left out the schema.
        checks.delete(call);
        if (shaped.checks !== undefined) checks.set(call, { checks: shaped.checks, exchange });
        const named = withToolNames(withTurn(shaped.request, client), format.toolNames);
        if (format.headersFor !== undefined) headers.set(call, format.headersFor(named));
        return format.writeRequest(named, dialect, call.headers);
      };
      const { written, dropped } =
        drop === undefined
          ? { written: write(readEdited(client, call, body)), dropped: [] }
          : drop(editedObject(call, body), (fields) => write(client.readRequest(fields)));
      noteDropped(exchange, [...dropped, ...excluded]);
      return written;
    },
    readError: (...response) => translatedError(format.readError(...response)),
    readWhole: ({ text }, call, model) => {
      const body = parseObject(text);
      if (body === undefined) throw new Error("the response is not a JSON object");
      const read = withClientNames(format.readResponse(body), toolNamesOf(client, call.body));
      const lost = new LostFields();
      lost.note(body, format.responseFields);
      noteTier(lost, client, read.usage);
      const response = serial.has(call) ? withFirstCall(read) : read;
      const { id, model: named, usage, stop } = response;
      const checked = checks.get(call);
      // Not every format reports the model.
      const complete = named === "" ? { ...response, model } : response;
      return {
        text: client.writeResponse(complete, { body: call.body, model, started: call.started }),
        warning: checked && responseWarning(response, checked.checks),
        lost: lost.names,
        facts: {
          id,
          model: named === "" ? undefined : named,
          usage,
          finish: FINISH_REASONS[stop],
        },
      };
    },
    openStream: (call, model) => {
      const writer = client.openStream({ body: call.body, model, started: call.started });
      const names = toolNamesOf(client, call.body);
      const checked = checks.get(call);
      const lost = new LostFields();
      return new TranslatedStream(format.openStream(MAX_EVENT, lost), writer, names, {
        isSerial: serial.has(call),
        checks: checked && streamedChecks(checked),
        lost,
        client,
      });
    },
  };
}

/** Notes the tier of a response for which the client's format has no word. */
function noteTier(lost: LostFields, { name }: ClientFormat, usage: Usage | undefined): void {
  if (lacksTier(name, usage)) lost.add("service_tier");
}

/** Checks of the response to a call. */
interface CallChecks {
  readonly checks: SchemaChecks;
  readonly exchange: Exchange;
}

function streamedChecks({ checks, exchange }: CallChecks): StreamedChecks {
  return new StreamedChecks(checks, () => exchange.newBuffer());
}

/** Reports mistakes by their position in the client's own body, before anything was added. */
function readEdited(client: ClientFormat, call: ChatCall, body: JsonBody): ChatRequest {
  try {
    return client.readRequest(editedObject(call, body));
  } catch (error) {
    if (body.isChanged && error instanceof LlmRefusal) client.readRequest(call.body);
    throw error;
  }
}

/**
 * Some providers refuse a conversation without a turn: a system prompt alone is what the user says. Throws LlmRefusal for a
 * request that says nothing.
 */
function withTurn(request: ChatRequest, client: ClientFormat): ChatRequest {
  const { system, turns } = request;
  if (turns.some(({ blocks }) => blocks.length > 0)) return request;
  if (system.length > 0) {
    return { ...request, system: [], turns: [{ role: "user", blocks: system }] };
  }
  const field = CONVERSATIONS[client.name] ?? "messages";
  throw new LlmRefusal({ kind: "invalid", message: `"${field}" has no content`, field });
}

/** Fields of conversations that are not called `messages`. */
const CONVERSATIONS: { readonly [Name in ClientFormat["name"]]?: string } = {
  responses: "input",
  generateContent: "contents",
};

/** Refuses a forced tool call without tools: otherwise the provider would not be asked for one. */
function refuseForcedNothing(request: ChatRequest): void {
  const { toolChoice, tools, features } = request;
  const isForced = toolChoice?.kind === "required" || toolChoice?.kind === "tool";
  if (!isForced || tools.length > 0 || hasHostedTools(request)) return;
  const field = features.get("toolChoice");
  const message = `"${field}" requires a tool call, but "tools" is empty`;
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

/** Work on a stream apart from its translation. */
interface StreamHandling {
  /** Whether only the first tool call is forwarded. */
  readonly isSerial: boolean;
  readonly checks: StreamedChecks | undefined;
  /** Fields that are not translated. */
  readonly lost: LostFields;
  readonly client: ClientFormat;
}

/** Converts the provider's stream to the client's. */
class TranslatedStream implements StreamRelay {
  readonly #reader: StreamReader;
  readonly #writer: StreamWriter;
  readonly #names: ClientToolNames;
  readonly #handling: StreamHandling;
  readonly ping: string;
  facts: ResponseFacts = {};
  pieces = 0;
  #state: StreamStep["state"] = "open";

  constructor(
    reader: StreamReader,
    writer: StreamWriter,
    names: ClientToolNames,
    handling: StreamHandling,
  ) {
    this.#reader = reader;
    this.#writer = writer;
    this.#names = names;
    this.#handling = handling;
    this.ping = writer.write({ kind: "ping" });
  }

  push(chunk: Buffer): StreamStep {
    return this.#pass(this.#reader.push(chunk));
  }

  close(): StreamStep {
    return this.#pass(this.#reader.end());
  }

  get warning(): string | undefined {
    return this.#handling.checks?.warning();
  }

  get lost(): string | undefined {
    const { lost, client } = this.#handling;
    noteTier(lost, client, this.facts.usage);
    return lost.names;
  }

  fail(error: LlmError): string {
    return this.#writer.write({ kind: "error", error });
  }

  #pass(events: readonly StreamEvent[]): StreamStep {
    const { isSerial, checks } = this.#handling;
    let text = "";
    let hasContent = false;
    for (const event of events) {
      if (event.kind === "error") {
        this.#state = event.error;
        break;
      }
      if (isSerial && isOfLaterCall(event)) continue;
      this.#note(event);
      const named = this.#named(event);
      checks?.note(named);
      text += this.#writer.write(named);
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
      this.facts = { ...this.facts, finish: FINISH_REASONS[event.reason] };
    }
  }
}

/** Names of logs and spans, in OpenAI's words, as OpenTelemetry's conventions are. */
const FINISH_REASONS: { readonly [Reason in StopReason]: string } = {
  end: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  filtered: "content_filter",
  pause: "pause",
};

/** Replaces names of tools that do not match `accepted` with short ones. */
function withToolNames(request: ChatRequest, accepted: RegExp): ChatRequest {
  const rename = (name: string): string =>
    name === "" || accepted.test(name) ? name : shortName(name);
  if (request.tools.every(({ name }) => rename(name) === name)) return request;
  const { tools, toolChoice, turns } = request;
  return {
    ...request,
    tools: tools.map((tool) => ({ ...tool, name: rename(tool.name) })),
    toolChoice: toolChoice && renamedChoice(toolChoice, rename),
    turns: turns.map((turn) => renamedTurn(turn, rename)),
  };
}

function renamedChoice(choice: ToolChoice, rename: (name: string) => string): ToolChoice {
  return choice.kind === "tool" ? { ...choice, name: rename(choice.name) } : choice;
}

function renamedTurn({ role, blocks }: Turn, rename: (name: string) => string): Turn {
  const renamed = (block: ContentBlock): ContentBlock =>
    block.kind === "tool-call" ? { ...block, name: rename(block.name) } : block;
  return { role, blocks: blocks.map(renamed) };
}

/** Maps the provider's names of tools back to the client's. */
class ClientToolNames {
  readonly #tools: () => ChatRequest["tools"];

  /** `tools`: tools of the client's request; called when a short name occurs. */
  constructor(tools: () => ChatRequest["tools"]) {
    this.#tools = tools;
  }

  /** Returns the name that the client gave. */
  of(name: string): string {
    if (!isShortName(name)) return name;
    return this.#tools().find((tool) => shortName(tool.name) === name)?.name ?? name;
  }
}
