import { median } from "../bench/compare.ts";
import type { SoakGateway } from "./gateways.ts";
import type { Received } from "./servers.ts";

/** Growth of memory that is no leak: megabytes held after a collection, and times the resident memory. */
const HELD_GROWTH = 8;
const RESIDENT_GROWTH = 1.2;

/** Number of failures that are printed with their messages. */
const MAX_MESSAGES = 20;

/** An id in the path of a line of the access log. */
const LOGGED_ID = /"http\.path":"[^"]*?(soak-[\w-]+)/;

/** Cause of a failure in a line of the access log. */
const LOGGED_CAUSE = /"http\.status":(\d+)|"error":"([^"]*)"|"reason":"([^"]*)"/g;

/** Counts exchanges, failures and memory of a soak, and compares what was sent with what has arrived and was logged. */
export class SoakReport {
  /** Exchanges by gateway and kind. */
  readonly #exchanges = new Map<string, number>();
  readonly #problems: string[] = [];
  readonly #notes: string[] = [];
  /** Resident megabytes by gateway, in the order of time. */
  readonly #resident = new Map<string, number[]>();
  /** Ids that have one line in the access log, by gateway. */
  readonly #logged = new Map<string, Set<string>>();
  /** Failures of exchanges as their clients saw them, by gateway and id. */
  readonly #failed = new Map<string, Map<string, string>>();
  /** Number of failed exchanges by cause. */
  readonly #causes = new Map<string, number>();

  /** Counts an exchange that went well. `isLogged`: its id has a line in the access log. */
  good(gateway: string, kind: string, id: string, isLogged: boolean): void {
    const name = `${gateway}: ${kind}`;
    this.#exchanges.set(name, (this.#exchanges.get(name) ?? 0) + 1);
    if (isLogged) entry(this.#logged, gateway, () => new Set<string>()).add(id);
  }

  /** Adds an exchange that failed. `seen`: what its client saw. */
  failed(gateway: string, kind: string, id: string, seen: string): void {
    this.problem(`${gateway}, ${kind}, ${id}: ${seen}`);
    const own = entry(this.#failed, gateway, () => new Map<string, string>());
    own.set(id, `${kind}: ${seen.replaceAll(id, "ID")}`);
  }

  /** Adds something that must not happen. */
  problem(text: string): void {
    this.#problems.push(`${new Date().toISOString()} ${text}`);
    if (this.#problems.length <= MAX_MESSAGES) console.log(this.#problems.at(-1));
  }

  /** Adds resident megabytes of a gateway. */
  resident(gateway: string, megabytes: number): void {
    entry(this.#resident, gateway, () => []).push(megabytes);
  }

  /** Compares what a gateway holds after a collection of garbage with what it held earlier. */
  held(gateway: string, before: number, after: number): void {
    this.#notes.push(`${gateway}: holds ${before.toFixed(1)} MB, later ${after.toFixed(1)} MB`);
    if (after - before > HELD_GROWTH) this.problem(`${gateway} holds more and more`);
  }

  /** Ends a gateway, and compares its log with what was sent to it. */
  async end(gateway: SoakGateway): Promise<void> {
    // A failed handshake has no line in the access log.
    for (const line of await gateway.failedHandshakes())
      this.#notes.push(`${gateway.name}: ${line}`);
    const code = await gateway.stop();
    if (code !== 0) this.problem(`${gateway.name} ended with ${code}`);
    const counts = new Map<string, number>();
    const open = this.#failed.get(gateway.name) ?? new Map<string, string>();
    for await (const line of gateway.lines()) {
      const id = LOGGED_ID.exec(line)?.[1];
      if (id === undefined) continue;
      counts.set(id, (counts.get(id) ?? 0) + 1);
      if (open.delete(id)) this.#count(`logged: ${causeIn(line)}`);
    }
    for (const seen of open.values()) this.#count(`without a line in the log: ${seen}`);
    const sent = [...(this.#logged.get(gateway.name) ?? [])];
    const wrong = sent.filter((id) => counts.get(id) !== 1);
    this.#notes.push(`${gateway.name}: ${sent.length} requests, each with one line in its log`);
    if (wrong.length > 0)
      this.problem(
        `${gateway.name}: ${wrong.length} requests without exactly one line: ${wrong[0]}`,
      );
    this.#judgeResident(gateway.name);
  }

  /** Compares what servers and the collector have received with what was sent. */
  received({ requests, spans, repeatedSpans }: Received): void {
    const repeated = [...requests.values()].filter((count) => count > 1).length;
    this.#notes.push(`servers: ${requests.size} requests, ${repeated} of them repeated`);
    this.#notes.push(`collector: ${spans.size} spans, ${repeatedSpans} of them repeated`);
    // Spans are sent again if the collector does not respond in time.
    if (repeated > 0) this.problem(`${repeated} requests were repeated`);
    const sent = [...this.#logged.values()].reduce((sum, ids) => sum + ids.size, 0);
    // A request has a span of its own, and one of its call.
    if (spans.size < 2 * sent) this.problem(`${spans.size} spans of ${sent} requests`);
  }

  /** Prints the result; returns whether nothing was lost and no memory has grown. */
  print(): boolean {
    for (const [name, count] of this.#exchanges) console.log(`${name}: ${count}`);
    for (const note of this.#notes) console.log(note);
    for (const [cause, count] of this.#causes) console.log(`${count} failed, ${cause}`);
    console.log(`${this.#problems.length} problems`);
    return this.#problems.length === 0;
  }

  #count(cause: string): void {
    this.#causes.set(cause, (this.#causes.get(cause) ?? 0) + 1);
  }

  #judgeResident(gateway: string): void {
    const all = this.#resident.get(gateway) ?? [];
    const quarter = Math.ceil(all.length / 4);
    const [early, late] = [median(all.slice(quarter, 2 * quarter)), median(all.slice(-quarter))];
    const list = all.map((each) => each.toFixed(0)).join(" ");
    this.#notes.push(`${gateway}: resident MB: ${list}`);
    if (late > RESIDENT_GROWTH * early)
      this.problem(`${gateway}: resident ${early.toFixed(0)} MB, later ${late.toFixed(0)} MB`);
  }
}

function causeIn(line: string): string {
  return [...line.matchAll(LOGGED_CAUSE)].map(([, ...parts]) => parts.join("")).join(", ");
}

function entry<Value>(map: Map<string, Value>, name: string, make: () => Value): Value {
  const found = map.get(name) ?? make();
  map.set(name, found);
  return found;
}
