import { fieldText } from "../cel/values/field-text.ts";
import type { LlmCall } from "../cel/variables.ts";
import { payingCaller } from "../http/caller-identity.ts";
import type { Exchange } from "../http/exchange.ts";
import { callerId, NANOS, type UsageCounts } from "../store/usage.ts";
import { UsageWriter } from "./usage-writer.ts";

/** Which usage of models is stored. */
export interface UsageSettings {
  /** Days for which it is stored. */
  readonly keptDays: number;
  /** Names of the attributes of a call that the configuration adds. */
  readonly names?: readonly string[];
  /** Returns their values; `undefined` if an expression failed. */
  readonly values?: (request: Exchange) => readonly unknown[];
}

/** Maximum length of a model and of a value, in UTF-16 units. */
const MAX_LENGTH = 128;
/** Maximum number of models, and of combinations of attributes, of a process; clients may choose them. */
const MAX_DISTINCT = 1000;

/** Returns a function that makes an exchange count its usage of models in the store. */
export function usageCounter(settings: UsageSettings): (exchange: Exchange) => void {
  const { names = [], values, keptDays } = settings;
  const models = new Set<string>();
  const combinations = new Set<string>();
  return (exchange) => {
    const add = (call: LlmCall): void => {
      const writer = UsageWriter.of(exchange.gateway);
      if (writer === undefined) return;
      const { requestModel, responseModel } = call;
      const model = bounded(
        models,
        (requestModel ?? responseModel ?? "unknown").slice(0, MAX_LENGTH),
      );
      const found = values?.(exchange).map(shownText) ?? [];
      const isKnown = bounded(combinations, JSON.stringify(found)) !== OTHER;
      const attributes = names.map((name, index) => [name, isKnown ? (found[index] ?? "") : OTHER]);
      writer.add(
        callerId(payingCaller(exchange.record) ?? NOBODY),
        { model, attributes: Object.fromEntries(attributes) },
        countsOf(call),
        keptDays,
      );
    };
    exchange.record.onModelUsage = add;
  };
}

const NOBODY = { kind: "none", name: "-" };
const OTHER = "other";

function bounded(known: Set<string>, value: string): string {
  if (known.has(value)) return value;
  if (known.size >= MAX_DISTINCT) return OTHER;
  known.add(value);
  return value;
}

function shownText(value: unknown): string {
  return fieldText(value)?.slice(0, MAX_LENGTH) ?? "";
}

function countsOf({ inputTokens = 0, outputTokens = 0, cost }: LlmCall): UsageCounts {
  return {
    requests: 1,
    inputTokens: Math.round(inputTokens),
    outputTokens: Math.round(outputTokens),
    cost: cost === undefined ? 0 : Math.round(cost.total * NANOS),
    unpriced: cost === undefined && inputTokens + outputTokens > 0 ? 1 : 0,
  };
}
