import type { RequestObserver } from "../../runtime/gateway/gateway-output.ts";
import type { Exchange } from "../../runtime/http/exchange.ts";
import { Figures } from "./figures/figures.ts";
import type { JournalEntry } from "./journal-entry.ts";

/** An MCP session, as far as its requests were seen. */
export interface SessionEntry {
  /** Its name in the log. */
  readonly name: string;
  readonly route: string | undefined;
  readonly subject: string | undefined;
  readonly client: string;
  readonly began: Date;
  readonly last: Date;
  readonly requests: number;
}

/** Requests that are over and remembered; the oldest makes room. */
const MAX_ENTRIES = 500;
/** Sessions that are remembered; the one unused for longest makes room. */
const MAX_SESSIONS = 50;

/** Remembers the last requests of a gateway, for the admin page. */
export class RequestJournal implements RequestObserver {
  /** Figures of the last day. */
  readonly figures = new Figures();
  readonly #inFlight = new Map<Exchange, Begin>();
  #count = 0;
  readonly #over: JournalEntry[] = [];
  /** Each is called for every request that ends until it finds the one that it waits for. */
  readonly #waiting = new Set<(entry: JournalEntry) => boolean>();
  /** In the order of their last requests. */
  readonly #sessions = new Map<string, SessionEntry>();

  /** Number of requests in flight. */
  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Requests in flight, then those that are over, the latest first. */
  get entries(): readonly JournalEntry[] {
    const inFlight = Array.from(this.#inFlight, ([exchange, begin]) => entryOf(exchange, begin));
    return [...inFlight.reverse(), ...this.#over.toReversed()];
  }

  /** The one that was used last comes first. */
  get sessions(): readonly SessionEntry[] {
    return [...this.#sessions.values()].reverse();
  }

  /**
   * Resolves to the request of a client's port as soon as the end of its response is noted; `undefined` if there was no
   * such request.
   */
  ofPort(port: number | undefined): Promise<JournalEntry | undefined> {
    const isOwn = ({ client }: JournalEntry) => client.endsWith(`:${port}`);
    const over = this.#over.findLast(isOwn);
    if (over !== undefined || !this.entries.some(isOwn)) return Promise.resolve(over);
    return new Promise((resolve) => {
      this.#waiting.add((entry) => {
        if (isOwn(entry)) resolve(entry);
        return isOwn(entry);
      });
    });
  }

  began(exchange: Exchange): void {
    this.#count += 1;
    this.#inFlight.set(exchange, { id: this.#count, at: new Date() });
  }

  ended(exchange: Exchange, status: number | undefined, duration: number): void {
    const begin = this.#inFlight.get(exchange) ?? { id: 0, at: new Date() };
    this.#inFlight.delete(exchange);
    const entry = { ...entryOf(exchange, begin), status, duration };
    this.figures.add(entry, isStream(exchange));
    this.#over.push(entry);
    if (this.#over.length > MAX_ENTRIES) this.#over.shift();
    this.#noteSession(entry);
    for (const isDone of this.#waiting) if (isDone(entry)) this.#waiting.delete(isDone);
  }

  #noteSession(entry: JournalEntry): void {
    const notes = new Map(entry.notes);
    const name = notes.get("mcp.session.id");
    if (name === undefined) return;
    const { began = entry.at, requests = 0 } = this.#sessions.get(name) ?? {};
    this.#sessions.delete(name);
    // A session that its client ends is gone (MCP, transports, session management).
    if (entry.method === "DELETE") return;
    const { route, client, at: last } = entry;
    const subject = notes.get("jwt.sub");
    this.#sessions.set(name, {
      name,
      route,
      subject,
      client,
      began,
      last,
      requests: requests + 1,
    });
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
  }
}

interface Begin {
  readonly id: number;
  readonly at: Date;
}

/** Whether the duration depends on how long the client listens: a tunnel, a WebSocket, or events of an MCP session. */
function isStream({ responseStatus, responseType, isTunnel, original }: Exchange): boolean {
  if (isTunnel || responseStatus === 101) return true;
  return original.method === "GET" && responseType?.startsWith("text/event-stream") === true;
}

function entryOf(exchange: Exchange, { id, at }: Begin): JournalEntry {
  const { record, original } = exchange;
  return {
    id,
    at,
    client: `${exchange.remoteAddress}:${exchange.remotePort}`,
    method: original.method,
    host: original.host,
    path: original.target.replace(/\?.*/s, ""),
    listener: record.listener,
    route: record.route,
    status: undefined,
    caller: record.callers?.[0]?.name,
    traceId: record.traceId,
    reason: record.reason,
    upstream: record.upstream,
    duration: undefined,
    notes: record.fields?.entries() ?? [],
  };
}
