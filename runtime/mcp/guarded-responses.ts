import { type SseEvent, SseReader } from "../http/body/sse.ts";
import type { Exchange } from "../http/exchange.ts";
import { headerValue } from "../http/headers/header-list.ts";
import type { ResponseSink } from "../http/response-sink.ts";
import { editRequest } from "../policies/envoy/header-edits.ts";
import { bugText } from "../process/bug-text.ts";
import { type Message, readMessage } from "./protocol/message.ts";
import { rpcCode, rpcError } from "./protocol/rpc-response.ts";

/**
 * Passes the results of a response through a check. Later checks see them before earlier ones. `limit`: maximum bytes of a
 * message.
 */
export function interceptResults(
  exchange: Exchange,
  limit: number,
  check: (message: Message) => Promise<string>,
): void {
  interceptMessages(exchange, limit, async (message) =>
    message.result === undefined ? message.text : check(message),
  );
}

/** Passes all messages of a response through a check: results, errors, and those that the server sends before them. */
export function interceptMessages(exchange: Exchange, limit: number, check: CheckMessage): void {
  // A compressed response could not be read.
  editRequest(exchange, [{ name: "accept-encoding", value: undefined, action: "overwrite" }]);
  const safeCheck: CheckMessage = (message) =>
    check(message).catch((error: unknown) => {
      exchange.gateway.warn(bugText(error));
      if (message.kind !== "response") return undefined;
      return rpcError(message.id, rpcCode.internal, "internal error");
    });
  exchange.interceptResponse((next) => new GuardedResponses(next, safeCheck, limit));
}

/** Refuses results on a stream that clients open: it has no request, and they are those of streams that broke. */
export function refuseResumedResults(exchange: Exchange, limit: number): void {
  const problem = "The result cannot be checked; send the request again";
  interceptResults(exchange, limit, async ({ id }) => rpcError(id, rpcCode.internal, problem));
}

/** Checks a message; resolves with the string that the client receives instead, or `undefined` if it receives none. */
type CheckMessage = (message: Message) => Promise<string | undefined>;

/** Checks the messages of a response, one after the other and in order: JSON, or the events of a stream. */
class GuardedResponses implements ResponseSink {
  readonly #next: ResponseSink;
  readonly #check: CheckMessage;
  readonly #limit: number;
  #state: "idle" | "passing" | "whole" | "events" | "refused" = "idle";
  #head: { readonly status: number; readonly headers: readonly string[] } | undefined;
  #pieces: Buffer[] = [];
  #size = 0;
  #events: SseReader | undefined;
  /** Resolves when everything before was forwarded. */
  #queue: Promise<void> = Promise.resolve();
  #waiting = 0;
  /** Number of the response: earlier ones were withdrawn. */
  #turn = 0;
  /** Whether the client takes no more at the moment. */
  #isBlocked = false;
  #drained: (() => void) | undefined;

  /** `limit`: maximum bytes of a message. */
  constructor(next: ResponseSink, check: CheckMessage, limit: number) {
    this.#next = next;
    this.#check = check;
    this.#limit = limit;
    next.onDrain(() => {
      this.#isBlocked = false;
      this.#resume();
    });
  }

  respond(status: number, headers: readonly string[], body: string | Uint8Array): void {
    const bytes = Buffer.from(body);
    this.writeHead(status, headers, bytes.length);
    if (bytes.length > 0) this.write(bytes);
    this.end();
  }

  writeHead(status: number, headers: readonly string[], length: number | undefined): void {
    const type = headerValue(headers, "content-type") ?? "";
    this.#pieces = [];
    this.#size = 0;
    const isStream = /^text\/event-stream\b/i.test(type);
    if (!isStream && !/^application\/json\b/i.test(type)) {
      this.#state = "passing";
      this.#next.writeHead(status, headers, length);
    } else if (isCoded(headers)) {
      this.#refuse("The response is compressed, so it cannot be checked");
    } else if (isStream) {
      this.#state = "events";
      this.#events = new SseReader(this.#limit);
      this.#next.writeHead(status, headers, undefined);
    } else {
      this.#state = "whole";
      this.#head = { status, headers };
    }
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#state === "passing") return this.#next.write(chunk);
    const bytes = Buffer.from(chunk);
    if (this.#state === "events") return this.#takeEvents(bytes);
    if (this.#state !== "whole") return true;
    this.#size += bytes.length;
    if (this.#size <= this.#limit) this.#pieces.push(bytes);
    return true;
  }

  end(trailers?: readonly string[]): void {
    switch (this.#state) {
      case "whole":
        this.#forward(Buffer.concat(this.#pieces).toString("utf8"), (text) => {
          if (this.#size > this.#limit)
            return this.#refuse(`The response has more than ${this.#limit} bytes`);
          if (text === undefined) return this.#refuse("The response is not a result");
          const { status, headers } = this.#head ?? { status: 200, headers: [] };
          const body = Buffer.from(text);
          this.#next.writeHead(status, headers, body.length);
          if (body.length > 0) this.#next.write(body);
          this.#next.end(trailers);
        });
        break;
      case "events":
        // An event without its blank line is an event for some clients.
        this.#takeEvents(Buffer.from("\n\n"));
        this.#enqueue(async () => this.#next.end(trailers));
        break;
      case "passing":
        this.#next.end(trailers);
    }
  }

  onDrain(listener: () => void): void {
    this.#drained = listener;
  }

  withdraw(): void {
    this.#turn += 1;
    this.#waiting = 0;
    this.#queue = Promise.resolve();
    this.#state = "idle";
    this.#next.withdraw();
  }

  leave(): void {
    this.#next.leave();
  }

  get #isReady(): boolean {
    return this.#waiting === 0 && !this.#isBlocked;
  }

  #resume(): void {
    if (this.#isReady) this.#drained?.();
  }

  #write(bytes: string | Uint8Array): void {
    this.#isBlocked = !this.#next.write(bytes);
  }

  /** Answers instead of a response that cannot be read. */
  #refuse(problem: string): void {
    this.#state = "refused";
    const headers = ["content-type", "application/json"];
    this.#next.respond(502, headers, rpcError("null", rpcCode.internal, problem));
  }

  #takeEvents(bytes: Buffer): boolean {
    const events = this.#events?.push(bytes);
    if (events === undefined) {
      // An event beyond the limit ends the stream.
      this.#state = "idle";
      this.#enqueue(async () => this.#next.end());
      return true;
    }
    for (const event of events) this.#takeEvent(event);
    return this.#isReady;
  }

  #takeEvent(event: SseEvent): void {
    const { data = "" } = event;
    if (data.trim() === "") {
      this.#enqueue(async () => this.#write(event.raw));
      return;
    }
    this.#forward(data, (text) => {
      if (text !== undefined) this.#write(text === data ? event.raw : eventText(event, text));
    });
  }

  /** Checks a message and then calls `write` with what the client receives, after everything before. */
  #forward(text: string, write: (text: string | undefined) => void): void {
    const message = readMessage(text);
    this.#enqueue(async (isCurrent) => {
      const checked = await this.#checked(message);
      if (isCurrent()) write(checked);
    });
  }

  /** Returns what the client receives of a message. Clients may read what cannot be read here. */
  async #checked(message: ReturnType<typeof readMessage>): Promise<string | undefined> {
    if (message.kind !== "problem") return this.#check(message);
    const problem = "The response cannot be read, so it cannot be checked";
    return rpcError("null", rpcCode.internal, problem);
  }

  #enqueue(work: (isCurrent: () => boolean) => Promise<void>): void {
    const turn = this.#turn;
    const isCurrent = (): boolean => turn === this.#turn;
    this.#waiting += 1;
    this.#queue = this.#queue
      .then(() => (isCurrent() ? work(isCurrent) : undefined))
      .then(() => {
        if (!isCurrent()) return;
        this.#waiting -= 1;
        this.#resume();
      });
  }
}

function isCoded(headers: readonly string[]): boolean {
  const coding = headerValue(headers, "content-encoding") ?? "identity";
  return coding.trim().toLowerCase() !== "identity";
}

function eventText({ name, id, retry }: SseEvent, data: string): string {
  const lines = [
    ...(name === "" ? [] : [`event: ${name}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retry === undefined ? [] : [`retry: ${retry}`]),
    ...data.split("\n").map((line) => `data: ${line}`),
  ];
  return `${lines.join("\n")}\n\n`;
}
