import { type Exchange, logFields } from "../../http/exchange.ts";
import type { Metrics } from "../../metrics/metrics.ts";
import {
  mcpEras,
  mcpMessageDuration,
  mcpMessages,
  mcpOmittedItems,
  mcpTargetFailures,
  mcpWaitingCalls,
} from "../../metrics/table/mcp.ts";
import { SECOND } from "../../process/units.ts";
import type { ListedItem } from "../protocol/list-edit.ts";
import type { Message } from "../protocol/message.ts";
import { responseError } from "../protocol/response-error.ts";
import type { TargetFailure } from "../protocol/target-failure.ts";

/**
 * The result of a client's message: forwarded, hidden by rules, withheld by a tool lock, naming an unknown item, or failed
 * at its target.
 */
export type McpOutcome = "allowed" | "denied" | "tool_lock" | "unknown" | "failed";

/** The labels of a counted message. */
export interface McpSubject {
  /** A method that MCP defines; `other` for any other, as clients may invent them. */
  readonly method: string;
  /** `undefined` or empty if the message concerns no single target. */
  readonly target?: string | undefined;
  /** The target's name of the tool, prompt or resource; `undefined` if the message names no existing one. */
  readonly item?: string;
}

/** Maximum number of items that are counted by name; on an open route clients may invent names. */
const MAX_ITEMS = 1000;
const MAX_ITEM = 256;
/** Control characters, which terminals interpret; items with such a name are not counted by name. */
const UNPRINTABLE = /[\0-\x1f\x7f]/;

/** Maximum number of items with a warning; a target may invent any number. */
const MAX_WARNINGS = 1000;

/** Counts the messages of MCP clients. */
export class McpMetrics {
  readonly #metrics: Metrics;
  readonly #items = new Set<string>();
  readonly #warned = new Set<string>();
  /** Calls that wait for their clients' input, by the era of the clients. */
  readonly #waiting = { sessions: 0, stateless: 0 };

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.read(mcpWaitingCalls, () =>
      Object.entries(this.#waiting).map(([era, count]) => [[era], count] as const),
    );
  }

  /** Counts a call as waiting for its client's input. */
  beginWaiting(era: "sessions" | "stateless"): void {
    this.#waiting[era] += 1;
  }

  endWaiting(era: "sessions" | "stateless"): void {
    this.#waiting[era] -= 1;
  }

  /** Counts a message that was not forwarded. */
  message(
    { record }: Exchange,
    { method, target = "", item = "" }: McpSubject,
    outcome: McpOutcome,
  ): void {
    const labels = [record.route ?? "unknown", method, target, this.#item(item), outcome] as const;
    this.#metrics.counter(mcpMessages, ...labels).value += 1;
  }

  /** Counts a forwarded message once its result is known. */
  handedOn(exchange: Exchange, subject: McpSubject): void {
    const started = performance.now();
    exchange.onClose(() => {
      const { record, responseStatus = 0 } = exchange;
      const isError = record.reason !== undefined || responseStatus >= 400;
      const hasFailed = isError || record.fields?.has("error.type") === true;
      const failed = record.reason === "ToolLock" ? "tool_lock" : "failed";
      this.message(exchange, subject, hasFailed ? failed : "allowed");
      this.#countEras(exchange);
      const { target = "" } = subject;
      this.#metrics
        .histogram(mcpMessageDuration, record.route ?? "unknown", target)
        .add((performance.now() - started) / SECOND);
    });
  }

  /** Counts and logs that a target did not answer a request. */
  targetFailed({ record }: Exchange, target: string, { kind, detail }: TargetFailure): void {
    logFields(record).set("error", detail);
    if (kind === "cancelled" || kind === "draining" || kind === "duplicate") return;
    this.#metrics.counter(mcpTargetFailures, record.route ?? "unknown", target, kind).value += 1;
  }

  /** Counts an entry that a merged list omits, and warns once about it. */
  omitted(exchange: Exchange, target: string, item: ListedItem, why: string): void {
    const { list } = item;
    const { route = "unknown" } = exchange.record;
    this.#metrics.counter(mcpOmittedItems, route, target, list).value += 1;
    this.warnAbout(exchange, target, item, `is omitted from ${list}, because ${why}`);
  }

  /** Warns once about an entry of a target's list. */
  warnAbout({ record, gateway }: Exchange, target: string, item: ListedItem, text: string): void {
    const shown = JSON.stringify(item.name.slice(0, MAX_ITEM));
    const key = `${record.route}\n${target}\n${item.list}\n${shown}`;
    if (this.#warned.has(key) || this.#warned.size >= MAX_WARNINGS) return;
    this.#warned.add(key);
    gateway.warn(`MCP server ${target}: ${shown} ${text}`);
  }

  #countEras({ record: { route = "unknown", fields } }: Exchange): void {
    const [client, target] = [fields?.get("mcp.era"), fields?.get("mcp.target.era")];
    if (client === undefined || target === undefined) return;
    this.#metrics.counter(mcpEras, route, client, target).value += 1;
  }

  #item(name: string): string {
    if (this.#items.has(name)) return name;
    if (this.#items.size >= MAX_ITEMS || name.length > MAX_ITEM || UNPRINTABLE.test(name))
      return "";
    this.#items.add(name);
    return name;
  }
}

/** Returns the counters of the gateway of a request. */
export function mcpMetrics({ gateway }: Exchange): McpMetrics {
  return gateway.metrics.part(McpMetrics);
}

/** Logs the error of a response. */
export function noteResponseError({ record }: Exchange, response: Message): void {
  const error = responseError(response);
  if (error === undefined) return;
  logFields(record).set("error.type", error);
}
