import { SseFrames } from "../../http/body/sse.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import { isJsonObject } from "../../json/json-object.ts";
import { jsonSelector } from "../../json/select-json.ts";
import type {
  NativeFormat,
  OriginalRequest,
  ResponseFacts,
  StreamWatcher,
} from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import { cutOff, eventTooLong } from "../formats/broken-stream.ts";
import { eventData } from "../formats/event-bytes.ts";
import { type ChatCall, writtenBody } from "./chat-call.ts";
import { MAX_EVENT } from "./limits.ts";
import type { LlmTarget, StreamRelay, TargetSettings, WholeResponse } from "./target.ts";

/** Settings of a provider that uses the client's format. */
export interface NativeSettings extends TargetSettings {
  readonly format: NativeFormat;
}

/** Creates a target for a provider that uses the client's format: bytes pass through. */
export function nativeTarget({ format, ...settings }: NativeSettings): LlmTarget {
  const isGuarded = settings.guard !== undefined && settings.guard.response.length > 0;
  const select = jsonSelector({ ...format.reads, id: true, error: true });
  const { mayIgnoreStream, contentOf } = format;
  const factsOf = (call: ChatCall, facts: ResponseFacts): ResponseFacts =>
    format.unitsOf === undefined
      ? facts
      : { ...facts, units: { ...format.unitsOf(call.readBody() ?? {}), ...facts.units } };
  return {
    ...settings,
    isNative: true,
    mayIgnoreStream,
    contentOf,
    unreadFacts: (call) => factsOf(call, {}),
    requestBody: (call, body) => {
      format.adapt(body);
      return writtenBody(call, body);
    },
    readError: format.readError,
    readWhole: (received, call): WholeResponse => {
      if (contentOf?.(headerValue(received.headers, "content-type") ?? "") !== undefined)
        return { text: undefined, facts: factsOf(call, {}) };
      const body = select(received.bytes);
      if (body === undefined) throw new Error("the response is not a JSON object");
      // Some servers report a failed call with a status of success. Calls that fail later have an id.
      if (isJsonObject(body.error) && body.id === undefined)
        throw new Error("the response is an error");
      return { text: undefined, facts: factsOf(call, format.readResponse(body)) };
    },
    openStream: (call, model) =>
      new NativeStream(
        format,
        { body: call.readBody() ?? {}, model, started: call.started },
        isGuarded,
        (facts) => factsOf(call, facts),
      ),
  };
}

/** Pings of formats whose clients do not all read comments. */
const PINGS: { readonly [Name in NativeFormat["name"]]?: string } = {
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  generateContent: "data: {}\n\n",
};

/** Forwards events unchanged, without those that the client did not request. */
class NativeStream implements StreamRelay {
  readonly #frames = new SseFrames(MAX_EVENT);
  readonly #format: NativeFormat;
  readonly #watcher: StreamWatcher;
  readonly #isGuarded: boolean;
  readonly #factsOf: (facts: ResponseFacts) => ResponseFacts;
  readonly ping: string;
  /** Error that the provider has sent, and its event. */
  #failure: { readonly error: LlmError; readonly event: Buffer } | undefined;
  /** Number of events that the client received. */
  #events = 0;
  pieces = 0;
  #state: StreamStep["state"] = "open";

  /** `isGuarded`: events that arrive together remain separate, as each is checked. */
  constructor(
    format: NativeFormat,
    request: OriginalRequest,
    isGuarded: boolean,
    factsOf: (facts: ResponseFacts) => ResponseFacts,
  ) {
    this.#factsOf = factsOf;
    this.#format = format;
    this.#isGuarded = isGuarded;
    this.#watcher = format.watchStream(request);
    this.ping = PINGS[format.name] ?? ": ping\n\n";
  }

  get facts(): ResponseFacts {
    return this.#factsOf(this.#watcher.facts);
  }

  push(chunk: Buffer): StreamStep {
    const output: Buffer[] = [];
    let passed = 0;
    let hasContent = false;
    const events = this.#frames.push(chunk);
    if (events === undefined) return this.#fail(eventTooLong.error);
    for (const raw of events) {
      if (this.#state !== "open") break;
      const seen = this.#watcher.see(raw);
      if (typeof seen === "object") {
        this.#failure = { error: seen, event: raw };
        this.#set(seen);
        break;
      }
      if (seen === "content") {
        hasContent = true;
        this.pieces += 1;
      }
      if (seen === "end") this.#set("ended");
      if (seen === "hidden") continue;
      if (this.#isGuarded) output.push(raw);
      else append(output, raw);
      passed += 1;
    }
    this.#events += passed;
    return { output, areEvents: passed === output.length, hasContent, state: this.#state };
  }

  close(): StreamStep {
    if (this.#state !== "open") return { output: [], hasContent: false, state: this.#state };
    if (!this.#watcher.hasEnded) return this.#fail(cutOff.error);
    return { output: [], hasContent: true, state: this.#set("ended") };
  }

  get sentError(): string | undefined {
    const own = this.#ownFailure;
    return own && eventData(own.event);
  }

  fail(error: LlmError): string {
    const own = this.#ownFailure;
    // Guards return another error.
    if (own?.error === error) return own.event.toString();
    return this.#format.errorEvent(error, { events: this.#events, facts: this.facts });
  }

  /** The failure if its event is one of the client's API. */
  get #ownFailure() {
    // Responses end with two events, of which the provider may have sent only one.
    const isOther = this.#format.name === "responses" || this.#failure?.error.isForeign === true;
    return isOther ? undefined : this.#failure;
  }

  #set(state: StreamStep["state"]): StreamStep["state"] {
    this.#state = state;
    return state;
  }

  #fail(error: LlmError): StreamStep {
    return { output: [], hasContent: false, state: this.#set(error) };
  }
}

/** Appends a piece. Adjacent pieces in memory are joined, so that they are sent in one write. */
function append(output: Buffer[], piece: Buffer): void {
  const last = output.at(-1);
  if (last?.buffer === piece.buffer && last.byteOffset + last.length === piece.byteOffset) {
    output[output.length - 1] = Buffer.from(
      last.buffer,
      last.byteOffset,
      last.length + piece.length,
    );
  } else output.push(piece);
}
