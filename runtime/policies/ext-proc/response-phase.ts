import type { JsonObject, ResponseVariables } from "../../cel/variables.ts";
import type { ProcessingMode } from "../../grpc/gen/envoy/extensions/filters/http/ext_proc/v3/processing_mode_pb.ts";
import type { CommonResponse } from "../../grpc/gen/envoy/service/ext_proc/v3/external_processor_pb.ts";
import type { CountedBuffer } from "../../http/body/counted-buffer.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue, replaceHeader, withoutHeader } from "../../http/headers/header-list.ts";
import type { ResponseSink } from "../../http/response-sink.ts";
import { headerEdits, isSettable } from "../envoy/header-edits.ts";
import { TransformedResponse } from "../transformations/response-variables.ts";
import type { ImmediateReply } from "./immediate-reply.ts";
import {
  type BodyMode,
  bodyModeOf,
  bodyOf,
  bodyPiece,
  isLastPiece,
  responseHead,
} from "./processor-messages.ts";
import type { ProcessingPhase, ProcessorSession } from "./processor-session.ts";

/** How a response is processed. */
export interface ResponseModes {
  readonly sendsHeaders: boolean;
  readonly body: BodyMode;
  readonly allowsOverride: boolean;
  readonly maxBody: number;
  /** What the processor gets of the response besides. */
  readonly attributes: ((response: ResponseVariables) => JsonObject) | undefined;
}

/** What a processor makes of a response of the backend; those of the gateway itself pass. */
export class ResponsePhase implements ResponseSink, ProcessingPhase {
  readonly #exchange: Exchange;
  readonly #session: ProcessorSession;
  readonly #next: ResponseSink;
  readonly #modes: ResponseModes;
  #mode: BodyMode;
  #head: { status: number; headers: readonly string[]; length: number | undefined } | undefined;
  /** Where it is: the processor looks at the head or at the body; all of it goes, or none. */
  #state: "idle" | "head" | "body" | "passing" | "over" = "idle";
  #isBodiless = false;
  #hasEnded = false;
  #isBlocked = false;
  readonly #held: CountedBuffer;
  #drained: (() => void) | undefined;

  constructor(
    exchange: Exchange,
    session: ProcessorSession,
    next: ResponseSink,
    modes: ResponseModes,
  ) {
    this.#exchange = exchange;
    this.#session = session;
    this.#next = next;
    this.#modes = modes;
    this.#mode = modes.body;
    this.#held = exchange.newBuffer();
    next.onDrain(() => {
      session.resume();
      if (this.#state === "passing") this.#drained?.();
    });
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const bytes = Buffer.from(body);
    this.writeHead(status, headers, bytes.length);
    if (bytes.length > 0) this.write(bytes);
    this.end();
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    this.#head = { status, headers, length };
    if (this.#exchange.record.reason !== undefined || this.#session.isOver) {
      if (this.#exchange.record.reason === undefined && this.#session.isBroken) this.#fail();
      else this.#pass();
      return;
    }
    this.#session.begin("response", this);
    const { sendsHeaders, attributes } = this.#modes;
    const isHead = this.#exchange.original.method === "HEAD";
    this.#isBodiless = isHead || length === 0 || status === 204 || status === 304;
    this.#state = "head";
    if (!sendsHeaders) {
      this.#proceed();
      return;
    }
    const more = attributes?.(new TransformedResponse(status, headers));
    this.#session.send(responseHead(status, headers, this.#isBodiless, more));
    this.#note();
  }

  write(chunk: string | Uint8Array): boolean {
    switch (this.#state) {
      case "passing":
        return this.#next.write(chunk);
      case "over":
      case "idle":
        return true;
      default:
        return this.#take(Buffer.from(chunk));
    }
  }

  end(): void {
    this.#hasEnded = true;
    if (this.#state === "passing") this.#next.end();
    else if (this.#state === "body" || this.#mode === "fullDuplex") this.#sendEnd();
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  onHeaders(response: CommonResponse | undefined, override: ProcessingMode | undefined): void {
    if (this.#state !== "head" || this.#head === undefined) return;
    this.#head = { ...this.#head, ...mutated(this.#head, response) };
    if (this.#modes.allowsOverride && override !== undefined && this.#mode !== "fullDuplex") {
      const mode = bodyModeOf(override.responseBodyMode);
      if (mode !== undefined && mode !== "fullDuplex") this.#mode = mode;
    }
    this.#proceed();
  }

  onBody(response: CommonResponse | undefined): void {
    if (this.#state !== "body" || this.#head === undefined) return;
    const bytes = bodyOf(response);
    if (this.#mode === "buffered") {
      const { status, headers } = { ...this.#head, ...mutated(this.#head, response) };
      this.#finish();
      this.#next.respond(status, headers, bytes ?? this.#held.bytes());
      return;
    }
    if (bytes !== undefined && bytes.length > 0 && !this.#next.write(bytes)) this.#session.pause();
    if (isLastPiece(response)) {
      this.#finish();
      this.#next.end();
    } else {
      this.#note();
    }
  }

  onImmediate({ status, headers, body }: ImmediateReply): void {
    this.#exchange.record.reason = "ExtProc";
    this.#replace(status, headers, body);
  }

  onEnd(passes: boolean): void {
    if (this.#state !== "head" && this.#state !== "body") return;
    if (passes && this.#state === "head") this.#pass();
    else this.#fail();
  }

  onRoom(): void {
    this.#isBlocked = false;
    this.#note();
    this.#drained?.();
  }

  #take(chunk: Buffer): boolean {
    if (this.#mode === "fullDuplex") {
      this.#session.hasBody = true;
      this.#isBlocked = !this.#session.send(bodyPiece("responseBody", chunk, false));
      this.#note();
      return !this.#isBlocked;
    }
    if (this.#held.length + chunk.length > this.#modes.maxBody || !this.#held.push(chunk)) {
      this.#session.cancel();
      this.#fail();
      return true;
    }
    // Until the head is done nobody knows what becomes of the body.
    return this.#state === "body";
  }

  /** The head is done. */
  #proceed(): void {
    if (this.#head === undefined) return;
    const { status, headers } = this.#head;
    if (this.#mode === "none" || this.#isBodiless) {
      this.#pass();
      this.#session.end();
      return;
    }
    this.#state = "body";
    if (this.#mode === "fullDuplex") this.#next.writeHead(status, headers, undefined);
    else if (this.#hasEnded) this.#sendEnd();
    else this.#drained?.();
    this.#note();
  }

  #sendEnd(): void {
    if (this.#isBodiless && this.#mode === "fullDuplex") return;
    if (this.#mode === "buffered" && this.#state !== "body") return;
    const rest = this.#mode === "buffered" ? this.#held.bytes() : Buffer.alloc(0);
    this.#session.hasBody ||= rest.length > 0;
    this.#session.send(bodyPiece("responseBody", rest, true));
    this.#note();
  }

  /** What there is goes on as it is. */
  #pass(): void {
    this.#state = "passing";
    const { status, headers, length } = this.#head ?? { status: 502, headers: [], length: 0 };
    this.#next.writeHead(status, headers, length);
    if (this.#held.length > 0) this.#next.write(this.#held.bytes());
    if (this.#hasEnded) this.#next.end();
    else this.#drained?.();
  }

  #fail(): void {
    this.#exchange.record.reason = "ExtProc";
    this.#replace(500, ["content-type", "text/plain; charset=utf-8"], "external processing failed");
  }

  #replace(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const isGone = this.#state === "body" && this.#mode === "fullDuplex";
    this.#state = "over";
    if (isGone) this.#exchange.abort();
    else this.#next.respond(status, headers, body);
  }

  #finish(): void {
    this.#state = "over";
    this.#session.end();
  }

  #note(): void {
    const isDue = this.#state === "head" || this.#hasEnded || this.#isBlocked;
    const waitsForBody = this.#mode === "fullDuplex" && !this.#hasEnded && !this.#isBlocked;
    this.#session.owes(isDue && !(waitsForBody && !this.#isBodiless));
  }
}

function mutated(
  { status, headers }: { readonly status: number; readonly headers: readonly string[] },
  response: CommonResponse | undefined,
): { status: number; headers: readonly string[] } {
  const { setHeaders = [], removeHeaders = [] } = response?.headerMutation ?? {};
  let list = [...headers];
  for (const name of removeHeaders.map((each) => each.toLowerCase())) {
    if (isSettable(name)) list = withoutHeader(list, name);
  }
  for (const { name, value, action } of headerEdits(setHeaders, "append")) {
    const isThere = headerValue(list, name) !== undefined;
    if (action === "append") list.push(name, value);
    else if (action === "overwrite" || isThere === (action === "overwriteIfPresent"))
      replaceHeader(list, name, value);
  }
  const wanted = setHeaders.find(({ header }) => header?.key === ":status")?.header;
  const code = Number(Buffer.from(wanted?.rawValue ?? []).toString() || wanted?.value);
  return { status: code >= 200 && code <= 599 ? code : status, headers: list };
}
