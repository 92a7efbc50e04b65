import { isSseType, SseReader } from "../../http/body/sse.ts";
import { headerValue } from "../../http/headers/header-list.ts";
import type { Upstream, UpstreamFailure, UpstreamRequest } from "../../http/upstream/upstream.ts";
import type { Replica, Replicas } from "./replicas.ts";
import type { SseTarget } from "./target.ts";
import type { Transport, TransportEvents, TransportHost } from "./transport.ts";

/**
 * Opens a target's event stream (HTTP+SSE transport, revision 2024-11-05). Its first event names the endpoint that messages
 * are posted to; all messages of the server arrive on the stream. `headers` is the flat list of end-to-end headers that
 * every request carries.
 */
export function openSseTransport(
  target: SseTarget,
  headers: readonly string[],
  host: TransportHost,
  events: TransportEvents,
): Transport {
  return new SseTransport(target, headers, host, events);
}

class SseTransport implements Transport {
  /** The server with the stream; no other one knows the session. */
  #upstream: Upstream;
  /** Other servers behind the target's name, to try if connecting fails. */
  #untried: readonly Replica[] = [];
  readonly #headers: readonly string[];
  readonly #events: TransportEvents;
  readonly #reader: SseReader;
  #stream: UpstreamRequest | undefined;
  /** Messages sent before the endpoint is known. */
  readonly #waiting: string[] = [];
  readonly #posts = new Set<UpstreamRequest>();
  #endpoint: string | undefined;
  #isOpen = true;
  #isPaused = false;

  constructor(
    target: SseTarget,
    headers: readonly string[],
    host: TransportHost,
    events: TransportEvents,
  ) {
    this.#upstream = target.upstream;
    this.#headers = headers;
    this.#events = events;
    this.#reader = new SseReader(host.messageLimit);
    if (target.replicas.isOne) this.#stream = this.#open();
    else void this.#begin(target.replicas);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(text: string): void {
    if (!this.#isOpen) return;
    if (this.#endpoint === undefined) this.#waiting.push(text);
    else this.#post(this.#endpoint, text);
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#stream?.resume();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#stream?.abort();
    for (const post of this.#posts) post.abort();
    this.#posts.clear();
  }

  async #begin(replicas: Replicas): Promise<void> {
    const [first, ...others] = await replicas.forNewSession();
    if (!this.#isOpen) return;
    if (first === undefined) this.#stream = this.#open();
    else this.#openAt(first, others);
  }

  #openAt([, server]: Replica, others: readonly Replica[]): void {
    this.#upstream = server;
    this.#untried = others;
    this.#stream = this.#open();
  }

  #open(): UpstreamRequest {
    const { path } = this.#upstream;
    const headers = [...this.#headers, "accept", "text/event-stream"];
    return this.#upstream.send(
      { method: "GET", path, headers, body: null },
      {
        onHead: (status, list) => {
          if (status !== 200 || !isSseType(headerValue(list, "content-type")))
            this.#break(`answered with ${status}`);
        },
        onData: (chunk) => this.#read(chunk),
        onEnd: () => this.#break("ended its stream"),
        onError: (failure) => {
          const [next, ...others] = this.#untried;
          if (failure.kind === "connect" && next !== undefined) this.#openAt(next, others);
          else this.#lose(failure);
        },
      },
    );
  }

  #read(chunk: Buffer): boolean {
    const events = this.#reader.push(chunk);
    if (events === undefined) this.#break("an event is over the size limit");
    for (const event of events ?? []) {
      if (event.data === undefined || !this.#isOpen) continue;
      if (event.name === "endpoint") this.#setEndpoint(event.data);
      else if (event.name === "message" || event.name === "") this.#events.onMessage(event.data);
    }
    return !this.#isPaused;
  }

  /** Sets the endpoint. It must have the origin of the stream, or a server could redirect the client's messages elsewhere. */
  #setEndpoint(data: string): void {
    const { origin, path } = this.#upstream;
    const base = `${origin}${path}`;
    if (!URL.canParse(data, base)) {
      this.#break("its endpoint is not a URL");
      return;
    }
    const url = new URL(data, base);
    if (url.origin !== origin) {
      this.#break("its endpoint is of another origin");
      return;
    }
    this.#endpoint = `${url.pathname}${url.search}`;
    for (const text of this.#waiting.splice(0)) this.#post(this.#endpoint, text);
  }

  #post(path: string, text: string): void {
    const headers = [...this.#headers, "content-type", "application/json"];
    const post = this.#upstream.send(
      { method: "POST", path, headers, body: text },
      {
        onHead: (status) => {
          if (status >= 200 && status < 300) return;
          const detail = `refused a message with ${status}`;
          // 404: the server has forgotten the session.
          if (status === 404) this.#break(detail);
          else this.#events.onRefused(text, detail);
        },
        onData: () => true,
        onEnd: () => this.#posts.delete(post),
        onError: (failure) => this.#lose(failure),
      },
    );
    this.#posts.add(post);
  }

  #lose(failure: UpstreamFailure): void {
    const kind = failure.kind === "connect" ? "connect" : "closed";
    this.#break(`${failure.kind}: ${failure.detail}`, kind);
  }

  #break(detail: string, kind: "connect" | "closed" = "closed"): void {
    if (!this.#isOpen) return;
    this.close();
    this.#events.onClose({ kind, detail });
  }
}
