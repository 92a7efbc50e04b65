import type { MetricsPart } from "../../process/metrics-part.ts";
import { head, label } from "../../telemetry/metrics/exposition-text.ts";

/** What became of a message of a client's: handed on, hidden by rules, or about something that is not there. */
export type McpOutcome = "allowed" | "denied" | "unknown";

/** A message as it is counted. */
export interface McpFigures {
  readonly route: string | undefined;
  /** One that MCP has; `other` for any other, as a client may make them up. */
  readonly method: string;
  /** Undefined: the message is about no single target. */
  readonly target: string | undefined;
  /** The tool, prompt or resource as its target calls it; undefined: none that is there. */
  readonly item: string | undefined;
  readonly outcome: McpOutcome;
}

/** Items beyond so many series are counted without their names: on an open route a client may make them up. */
const maxSeries = 1000;

/** Counts the messages of MCP clients. */
export class McpMetrics implements MetricsPart {
  readonly #series = new Map<string, number>();

  /** The counters of a process: they outlive a reload of the configuration. */
  static of(parts: Set<MetricsPart>): McpMetrics {
    for (const part of parts) if (part instanceof McpMetrics) return part;
    const added = new McpMetrics();
    parts.add(added);
    return added;
  }

  message(figures: McpFigures): void {
    const labels = labelsOf(figures, figures.item);
    const isFull = this.#series.size >= maxSeries && !this.#series.has(labels);
    const counted = isFull ? labelsOf(figures, undefined) : labels;
    this.#series.set(counted, (this.#series.get(counted) ?? 0) + 1);
  }

  exposition(): string {
    const name = "gwc_mcp_messages_total";
    const help = "Messages of MCP clients, by what they are about and whether they were handed on.";
    return (
      head(name, "counter", help) +
      Array.from(this.#series, ([labels, count]) => `${name}{${labels}} ${count}\n`).join("")
    );
  }
}

function labelsOf(
  { route = "unknown", method, target = "", outcome }: McpFigures,
  item: string | undefined,
): string {
  return (
    `route="${label(route)}",method="${method}",target="${label(target)}",` +
    `item="${label(item ?? "")}",outcome="${outcome}"`
  );
}
