import { type Exchange, logFields } from "../../http/exchange.ts";
import { SECOND } from "../../process/units.ts";
import type { Metrics } from "../../telemetry/metrics/metrics.ts";
import {
  mcpEras,
  mcpMessageDuration,
  mcpMessages,
  mcpWaitingCalls,
} from "../../telemetry/metrics/table/mcp.ts";
import type { Message } from "../protocol/message.ts";
import { responseError } from "../protocol/response-error.ts";

/**
 * What became of a message of a client's: handed on, hidden by rules, about a tool that is withheld by a lock, about something
 * that is not there, or failed at its target.
 */
export type McpOutcome = "allowed" | "denied" | "tool_lock" | "unknown" | "failed";

/** What a message is about, as it is counted. */
export interface McpSubject {
  /** A method that MCP has; `other` for any other, as a client may make them up. */
  readonly method: string;
  /** Undefined or empty: the message is about no single target. */
  readonly target?: string | undefined;
  /** The tool, prompt or resource as its target calls it; undefined: none that is there. */
  readonly item?: string;
}

/** Items that are counted by name: on an open route a client may make them up. */
const MAX_ITEMS = 1000;
const MAX_ITEM = 256;
/** What a terminal would take as more than text: no item has it in its name. */
const UNPRINTABLE = /[\0-\x1f\x7f]/;

/** Counts the messages of MCP clients. */
export class McpMetrics {
  readonly #metrics: Metrics;
  readonly #items = new Set<string>();
  /** Calls that wait for what their clients were asked, by what the clients speak. */
  readonly #waiting = { sessions: 0, stateless: 0 };

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    metrics.read(mcpWaitingCalls, () =>
      Object.entries(this.#waiting).map(([era, count]) => [[era], count] as const),
    );
  }

  /** A call waits from now on for what its client was asked. */
  beginWaiting(era: "sessions" | "stateless"): void {
    this.#waiting[era] += 1;
  }

  endWaiting(era: "sessions" | "stateless"): void {
    this.#waiting[era] -= 1;
  }

  /** A message that went no further. */
  message(
    { record }: Exchange,
    { method, target = "", item = "" }: McpSubject,
    outcome: McpOutcome,
  ): void {
    const labels = [record.route ?? "unknown", method, target, this.#item(item), outcome] as const;
    this.#metrics.counter(mcpMessages, ...labels).value += 1;
  }

  /** A message that is handed on: it is counted when it is known what became of it. */
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

/** Notes what a response says of a failure. */
export function noteResponseError({ record }: Exchange, response: Message): void {
  const error = responseError(response);
  if (error === undefined) return;
  logFields(record).set("error.type", error);
}
