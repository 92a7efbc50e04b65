import type { JsonObject } from "../cel/variables.ts";
import { payingCaller } from "../http/caller-identity.ts";
import type { Exchange } from "../http/exchange.ts";
import { queryValue } from "../http/routing/query.ts";
import { type Store, StoreError } from "../store/store.ts";
import { callerId, DAY, dayOf, monthOf, NANOS, type UsageCounts } from "../store/usage.ts";
import { isDay, reportUsage, totalUsage, type UsageQuestion } from "../store/usage-report.ts";
import { refuseMethod, respondError } from "./calls/respond-error.ts";
import type { LlmErrorKind } from "./chat/llm-error.ts";
import { completionsErrors } from "./formats/completions/errors.ts";

/** Columns that callers may group by. */
const COLUMNS: readonly string[] = ["model", "day", "month"];
/** Maximum number of days of a request; fewer if it asks for each of them. */
const MAX_DAYS = 400;
const MAX_SINGLE_DAYS = 92;

/** Responds with the caller's own usage of models: `GET /v1/usage?since=2026-11-01&until=2026-11-30&by=model,day`. */
export async function serveOwnUsage(exchange: Exchange): Promise<void> {
  if (refuseMethod(exchange, completionsErrors, ["GET", "HEAD"])) return;
  const { record, gateway } = exchange;
  const caller = payingCaller(record);
  if (caller === undefined) {
    refuseQuestion(exchange, "authentication", "usage is only shown to callers who authenticate");
    return;
  }
  const question = questionIn(exchange.query, callerId(caller));
  if (typeof question === "string" || gateway.store === undefined) {
    refuseQuestion(exchange, "invalid", String(question));
    return;
  }
  try {
    const body = JSON.stringify(await report(gateway.store, question));
    exchange.respond(200, ["content-type", "application/json", "cache-control", "no-store"], body);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    record.reason = "StoreAway";
    const message = "usage cannot be read now";
    respondError(exchange, { kind: "server", message, status: 503 }, completionsErrors, [
      "retry-after",
      "1",
    ]);
  }
}

async function report(store: Store, question: UsageQuestion): Promise<JsonObject> {
  const { since, until, by } = question;
  const groups = await reportUsage(store, question);
  const data = groups.map(({ values, counts }) => ({
    ...Object.fromEntries(by.map((column, index) => [column, values[index] ?? null])),
    ...amounts(counts),
  }));
  return { object: "usage", since, until, data, total: amounts(totalUsage(groups)) };
}

function amounts({ requests, inputTokens, outputTokens, cost, unpriced }: UsageCounts): JsonObject {
  return {
    requests,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: Number((cost / NANOS).toFixed(9)),
    unpriced_requests: unpriced,
  };
}

/** Reads the question; returns what is wrong if it is invalid. */
function questionIn(query: string, caller: string): UsageQuestion | string {
  const today = dayOf(Date.now());
  const since = queryValue(query, "since") ?? `${monthOf(today)}-01`;
  const until = queryValue(query, "until") ?? today;
  const by = (queryValue(query, "by") ?? "model").split(",");
  if (!isDay(since) || !isDay(until) || since > until)
    return '"since" and "until" are days such as 2026-11-01, in this order';
  if (!by.every((column) => COLUMNS.includes(column)))
    return `"by" has columns of ${COLUMNS.join(", ")}`;
  const limit = by.includes("day") ? MAX_SINGLE_DAYS : MAX_DAYS;
  if ((Date.parse(until) - Date.parse(since)) / DAY >= limit)
    return `a request is about at most ${limit} days`;
  return { since, until, by, caller };
}

function refuseQuestion(exchange: Exchange, kind: LlmErrorKind, message: string): void {
  exchange.record.reason = kind === "authentication" ? "Authorization" : "BadRequest";
  respondError(exchange, { kind, message }, completionsErrors);
}
