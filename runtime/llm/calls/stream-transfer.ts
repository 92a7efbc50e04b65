import { withoutHeader, withoutHeaders } from "../../http/headers/header-list.ts";
import { endToEnd } from "../../http/headers/hop-by-hop.ts";
import type { ResponseFacts, StreamFraming } from "../chat/formats.ts";
import type { LlmError } from "../chat/llm-error.ts";
import type { StreamStep } from "../chat/stream-step.ts";
import { LOST_HEADER, noteLost, noteWarning, WARNING_HEADER } from "./note-warning.ts";
import { isOfProvider } from "./provider-failure.ts";
import type { ReceivedHead } from "./received-head.ts";
import { GuardedStream, guardError } from "./response-guard.ts";
import { StreamResponse } from "./stream-response.ts";
import type { StreamRelay } from "./target.ts";
import { ownHeaders, receivedHeaders, type Transfer, type TransferOwner } from "./transfer.ts";

/** Forwards a provider's stream to the client piece by piece, through guards. */
export class StreamTransfer implements Transfer {
  readonly #owner: TransferOwner;
  readonly #relay: StreamRelay;
  readonly #guarded: GuardedStream | undefined;
  readonly #client: StreamResponse;
  /** Form of the client's stream; `undefined` for server-sent events. */
  readonly #framing: StreamFraming | undefined;
  readonly #head: ReceivedHead;
  /** Whether it has failed, and guards are checking the provider's error. */
  #isEnding = false;
  /** Whether the client accepts more data. */
  #isReady = true;

  constructor(owner: TransferOwner, head: ReceivedHead) {
    this.#owner = owner;
    this.#head = head;
    const { exchange, call, target, model, keepAlive, guard, errors } = owner.context;
    this.#framing = errors.framing;
    const type = errors.framing?.contentType ?? "text/event-stream";
    this.#relay = target.openStream(call, model);
    if (guard !== undefined) {
      this.#guarded = new GuardedStream(guard, (step) => {
        if (this.#deliver(step)) owner.resume();
      });
    }
    const own = target.isNative
      ? withoutHeader(receivedHeaders(head, owner.context), "content-encoding")
      : ownHeaders(type, head, owner.context);
    owner.context.recording?.begin(type, head, target.provider, [
      ...owner.context.headers.list,
      ...["cache-control", "no-cache"],
    ]);
    this.#client = new StreamResponse(exchange, {
      headers: [...own, "cache-control", "no-cache"],
      ...{ ping: this.#relay.ping, keepAlive },
      onDrain: () => {
        this.#isReady = true;
        owner.resume();
      },
    });
  }

  push(chunk: Buffer): boolean {
    return this.#take(this.#relay.push(chunk));
  }

  end(): void {
    this.#take(this.#relay.close());
  }

  get facts(): ResponseFacts {
    return this.#relay.facts;
  }

  get pieces(): number {
    return this.#relay.pieces;
  }

  stop(): void {
    this.#client.stop();
  }

  abortWith(error: LlmError): void {
    const last = this.#relay.fail(error);
    const guarded = this.#guarded?.fail(last) ?? last;
    this.#client.end(this.#framed([guarded]));
  }

  /** Returns false if no more data is wanted for now. */
  #take(step: StreamStep): boolean {
    if (this.#owner.isOver) return true;
    const guarded = this.#guarded;
    if (guarded === undefined) return this.#deliver(step);
    guarded.push(step);
    return !guarded.isWaiting && this.#isReady;
  }

  #deliver({ output, hasContent, state }: StreamStep): boolean {
    const owner = this.#owner;
    const client = this.#client;
    if (owner.isOver) return true;
    if (hasContent) owner.contentBegan();
    const notes = state === "ended" ? this.#notes() : [];
    const framed = this.#framed(output);
    owner.context.recording?.add(framed);
    if (notes.length > 0) client.write(this.#commented(notes), hasContent);
    const isReady = client.write(framed, hasContent || state === "ended");
    if (state === "open") {
      this.#isReady = isReady;
      return owner.keepPace(isReady);
    }
    if (state === "ended") {
      owner.respond(this.#relay.facts);
      client.end([], notes.length === 0 ? undefined : notes);
    } else {
      owner.abort();
      if (owner.isRejected && !client.hasBegun) owner.reject(state, this.#relay.facts);
      else if (owner.isRejected || !client.hasBegun)
        owner.fail(this.#withProvidersError(state), isOfProvider(state), true);
      else void this.#failGuarded(state);
    }
    return true;
  }

  /** Returns an error that is all of the stream with its own JSON, if that has the client's format. */
  #withProvidersError(error: LlmError): LlmError {
    const { sentError } = this.#relay;
    if (sentError === undefined) return error;
    const headers = withoutHeaders(endToEnd(this.#head.headers, ""), OF_STREAM);
    headers.push("content-type", "application/json");
    return { ...error, own: { body: Buffer.from(sentError), headers } };
  }

  /** Logs what the client must know of the ended stream, and returns it as trailers. A cache gets no stream with a problem. */
  #notes(): readonly string[] {
    const { warning, lost } = this.#relay;
    const { exchange, recording } = this.#owner.context;
    const notes: string[] = [];
    if (warning !== undefined) {
      recording?.drop();
      notes.push(WARNING_HEADER, noteWarning(exchange, warning));
    }
    if (lost !== undefined) notes.push(LOST_HEADER, noteLost(exchange, lost));
    return notes;
  }

  /** Many clients do not read trailers. Clients of server-sent events skip comments. */
  #commented(notes: readonly string[]): readonly string[] {
    if (this.#framing !== undefined) return [];
    const names = notes.filter((_, index) => index % 2 === 0);
    return names.map((name, index) => `: ${name}: ${notes[2 * index + 1]}\n\n`);
  }

  /** Returns events in the form of the client. */
  #framed(events: StreamStep["output"]): StreamStep["output"] {
    return this.#framing?.encode(events) ?? events;
  }

  /** An error in the middle of a stream passes guards like its texts. */
  async #failGuarded(error: LlmError): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const { guard } = this.#owner.context;
    this.#owner.fail(guard === undefined ? error : await guardError(error, guard), false, true);
  }
}

/** Headers of a stream that an error of its own does not have. */
const OF_STREAM: ReadonlySet<string> = new Set([
  "content-type",
  "content-encoding",
  "cache-control",
]);
