import type { RequestObserver } from "../../runtime/gateway/gateway.ts";
import type { Exchange } from "../../runtime/http/exchange.ts";

/** A request of a client, under way or over. Never a query, a body or a header: they may hold credentials. */
export interface JournalEntry {
  readonly at: Date;
  /** `address:port` */
  readonly client: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly listener: string | undefined;
  readonly route: string | undefined;
  /** Undefined while it is under way, and when the client left unanswered. */
  readonly status: number | undefined;
  /** Why the gateway itself responded. */
  readonly reason: string | undefined;
  /** What was called. */
  readonly upstream: string | undefined;
  /** Milliseconds; undefined while it is under way. */
  readonly duration: number | undefined;
  /** What policies and backends noted for the access log: the subject, the tool, why it was refused. */
  readonly notes: readonly (readonly [name: string, value: string])[];
}

/** An MCP session, as far as its requests were seen. */
export interface SessionEntry {
  /** What the log calls it. */
  readonly name: string;
  readonly route: string | undefined;
  readonly subject: string | undefined;
  readonly client: string;
  readonly began: Date;
  readonly last: Date;
  readonly requests: number;
}

/** Requests that are over and remembered; the oldest makes room. */
const MAX_ENTRIES = 100;
/** Sessions that are remembered; the one unused for longest makes room. */
const MAX_SESSIONS = 50;

/** Remembers the last requests of a gateway, for the admin page. */
export class RequestJournal implements RequestObserver {
  readonly #underWay = new Map<Exchange, Date>();
  readonly #over: JournalEntry[] = [];
  /** Each is told of what ends until it is the one that it waits for. */
  readonly #waiting = new Set<(entry: JournalEntry) => boolean>();
  /** In the order of their last requests. */
  readonly #sessions = new Map<string, SessionEntry>();

  /** Those under way, then those that are over, the last one first. */
  get entries(): readonly JournalEntry[] {
    const underWay = Array.from(this.#underWay, ([exchange, at]) => entryOf(exchange, at));
    return [...underWay.reverse(), ...this.#over.toReversed()];
  }

  /** The one that was used last comes first. */
  get sessions(): readonly SessionEntry[] {
    return [...this.#sessions.values()].reverse();
  }

  /** The request of a client's port whose response has ended, as soon as that is noted; undefined: there was none. */
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
    this.#underWay.set(exchange, new Date());
  }

  ended(exchange: Exchange, status: number | undefined, duration: number): void {
    const at = this.#underWay.get(exchange) ?? new Date();
    this.#underWay.delete(exchange);
    const entry = { ...entryOf(exchange, at), status, duration };
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
    // What a client ends is gone (MCP, transports, session management).
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

function entryOf(exchange: Exchange, at: Date): JournalEntry {
  const { record, original } = exchange;
  return {
    at,
    client: `${exchange.remoteAddress}:${exchange.remotePort}`,
    method: original.method,
    host: original.host,
    path: original.target.replace(/\?.*/s, ""),
    listener: record.listener,
    route: record.route,
    status: undefined,
    reason: record.reason,
    upstream: record.upstream,
    duration: undefined,
    notes: record.fields?.entries() ?? [],
  };
}
