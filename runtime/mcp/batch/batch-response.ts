import { isSseType, SseReader, sseMessage } from "../../http/body/sse.ts";
import type { InnerCall, InnerListener } from "../../http/engine/inner-request.ts";
import { servePart } from "../../http/engine/part-request.ts";
import type { Exchange } from "../../http/exchange.ts";
import { headerValue, withoutHeaders } from "../../http/headers/header-list.ts";
import { type Message, readMessage, withId } from "../protocol/message.ts";
import { respondRpc, rpcCode, rpcError } from "../protocol/rpc-response.ts";
import { STREAM_HEADERS } from "../session/client-stream.ts";

/** A message of a batch. */
export interface BatchMember {
  /** `invalid`: `text` is its response. */
  readonly kind: Message["kind"] | "invalid";
  /** As JSON text; empty for a notification. */
  readonly id: string;
  readonly text: string;
}

/** Maximum bytes of one event in a member's response. */
const MAX_EVENT = 64 * 1_048_576;

/**
 * The response to a batch: an array with the responses in the order of the requests, or nothing (202) if there are only
 * notifications. If a server asks or notifies its client before, it is an event stream, to which each response is added at once.
 */
export class BatchResponse {
  readonly #exchange: Exchange;
  readonly #members: readonly BatchMember[];
  /** Responses by the index of their members. */
  readonly #responses: (string | undefined)[];
  readonly #parts: InnerCall[] = [];
  /** Heads by the index of their members, with the status. */
  readonly #heads: (PartHead | undefined)[];
  #waiting = 0;
  #isStream = false;

  constructor(exchange: Exchange, members: readonly BatchMember[]) {
    this.#exchange = exchange;
    this.#members = members;
    this.#responses = members.map(() => undefined);
    this.#heads = members.map(() => undefined);
  }

  /** Serves the members, which begin in their order. */
  start(): void {
    const exchange = this.#exchange;
    exchange.onAbort(() => {
      for (const part of this.#parts) part.abort();
    });
    exchange.onDrain(() => {
      for (const part of this.#parts) part.drained();
    });
    this.#waiting = this.#members.length;
    for (const [index, member] of this.#members.entries()) {
      if (member.kind === "invalid") this.#ended(index, member.text);
      else this.#parts.push(servePart(exchange, Buffer.from(member.text), this.#part(index)));
    }
  }

  #part(index: number): InnerListener {
    const member = this.#members[index];
    const whole = this.#exchange.newBuffer();
    let events: SseReader | undefined;
    let response: string | undefined;
    let isTooLarge = false;
    const take = (text: string): boolean => {
      const message = readMessage(text);
      if (message.kind === "response" && message.id === member?.id) {
        response = text;
        return true;
      }
      return this.#send(index, text);
    };
    return {
      onHead: (status, headers) => {
        this.#heads[index] = { status, headers };
        if (isSseType(headerValue(headers, "content-type"))) events = new SseReader(MAX_EVENT);
      },
      onData: (piece) => {
        const bytes = Buffer.from(piece);
        if (events === undefined) isTooLarge = !whole.push(bytes) || isTooLarge;
        else {
          const found = events.push(bytes);
          if (found === undefined) isTooLarge = true;
          else return found.every(({ data }) => data === undefined || take(data));
        }
        return true;
      },
      onEnd: (isComplete) => {
        const failure = failureOf(isComplete, isTooLarge);
        if (member?.kind !== "request") this.#ended(index, undefined);
        else if (failure !== undefined)
          this.#ended(index, rpcError(member.id, rpcCode.internal, failure));
        else if (events !== undefined) this.#ended(index, response);
        else
          this.#ended(
            index,
            responseTo(member, this.#heads[index]?.status, whole.bytes().toString()),
          );
        whole.release();
      },
    };
  }

  /** Sends a message that precedes responses. Returns false if the sender should wait. */
  #send(index: number, text: string): boolean {
    if (!this.#isStream) {
      this.#isStream = true;
      const own = withoutHeaders(this.#heads[index]?.headers ?? [], OWN_FIELDS);
      this.#exchange.writeHead(200, [...own, ...STREAM_HEADERS]);
      for (const each of this.#responses)
        if (each !== undefined) this.#exchange.write(sseMessage(each));
    }
    return this.#exchange.write(sseMessage(text));
  }

  #ended(index: number, response: string | undefined): void {
    this.#responses[index] = response;
    if (this.#isStream && response !== undefined) this.#exchange.write(sseMessage(response));
    this.#waiting -= 1;
    if (this.#waiting > 0 || this.#exchange.isOver) return;
    if (this.#isStream) this.#exchange.end();
    else this.#respond();
  }

  #respond(): void {
    const responses = this.#responses.filter((each) => each !== undefined);
    const heads = this.#heads.filter((head) => head !== undefined);
    const first = heads[0];
    // Challenges and waiting times are in the head of a refusal, which clients find only if the status is its own.
    const isRefused =
      first !== undefined &&
      first.status >= 400 &&
      this.#heads.every((head) => head?.status === first.status);
    const own = withoutHeaders(first?.headers ?? [], isRefused ? BODY_FIELDS : OWN_FIELDS);
    if (responses.length > 0)
      respondRpc(this.#exchange, isRefused ? first.status : 200, `[${responses.join(",")}]`, own);
    else this.#exchange.respond(isRefused ? first.status : 202, own);
  }
}

/** Head of the response to a member. */
interface PartHead {
  readonly status: number;
  readonly headers: readonly string[];
}

/** Fields that describe one body. */
const BODY_FIELDS: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "cache-control",
  "x-accel-buffering",
  "connection",
  "mcp-session-id",
]);

/** Fields of the response to one member only. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  ...BODY_FIELDS,
  "www-authenticate",
  "retry-after",
  "allow",
]);

/** Returns why a member has no response of its server; `undefined` if it has one. */
function failureOf(isComplete: boolean, isTooLarge: boolean): string | undefined {
  if (isTooLarge) return "The response is too large";
  return isComplete ? undefined : "The response was aborted";
}

/** Returns the response to a request from a body, which is a refusal without an id if the request was not read. */
function responseTo({ id }: BatchMember, status = 500, body: string): string | undefined {
  if (body === "" && status < 300) return undefined;
  const message = readMessage(body);
  if (message.kind !== "response")
    return rpcError(id, rpcCode.internal, `The request was refused with HTTP status ${status}`);
  return message.id === id ? body : withId(message, id).text;
}
