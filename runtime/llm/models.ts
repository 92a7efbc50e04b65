import type { JsonObject } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { queryValue } from "../http/routing/query.ts";
import { isAnthropicClient } from "./calls/anthropic-client.ts";
import type { ModelRules } from "./calls/model-entries.ts";
import { isOpenModel } from "./calls/open-models.ts";
import { refuseMethod, respondError } from "./calls/respond-error.ts";
import type { ErrorFormat } from "./chat/formats.ts";
import type { LlmError } from "./chat/llm-error.ts";
import { completionsErrors } from "./formats/completions/errors.ts";
import { messagesErrors } from "./formats/messages/errors.ts";
import { restOfPath } from "./path-rest.ts";

/** A model, by the name that clients use. */
export interface ListedModel {
  readonly id: string;
  /** Vendor: `openai`. */
  readonly owner: string;
  /** Rules of its entries, one of which must allow the caller; absent if everybody may use it. */
  readonly rules?: readonly ModelRules[];
}

/**
 * Responds with the configured models that the caller may use, in the format of the client's API. `api`: path of the list;
 * models are below it.
 */
export function serveModels(exchange: Exchange, all: readonly ListedModel[], api: string): void {
  const isAnthropic = isAnthropicClient(exchange);
  const errors = isAnthropic ? messagesErrors : completionsErrors;
  const [, method] = /:(\w+)$/.exec(exchange.path) ?? [];
  if (exchange.method === "POST" && method !== undefined) {
    notFound(exchange, { message: `the method "${method}" of models is not served` }, errors);
    return;
  }
  if (refuseMethod(exchange, errors, ["GET", "HEAD"])) return;
  const models = all.filter(
    ({ id, rules }) =>
      isOpenModel(exchange, id) &&
      rules?.some((authorize) => authorize(exchange).isAllowed) !== false,
  );
  const id = decodeId(restOfPath(exchange.path, api) ?? "");
  if (id === "") {
    respondJson(exchange, isAnthropic ? anthropicPage(models, exchange.query) : openaiList(models));
    return;
  }
  const model = models.find((each) => each.id === id);
  if (model !== undefined) {
    respondJson(exchange, isAnthropic ? anthropicModel(model) : openaiModel(model));
    return;
  }
  notFound(exchange, { message: `the model "${id}" does not exist`, field: "model" }, errors);
}

function notFound(
  exchange: Exchange,
  what: Pick<LlmError, "message" | "field">,
  errors: ErrorFormat,
): void {
  exchange.record.reason = "NotFound";
  respondError(exchange, { kind: "not-found", ...what }, errors);
}

/** Decodes the path below the list; invalid percent-encoding matches no model. */
function decodeId(rest: string): string {
  try {
    return decodeURIComponent(rest.slice(1));
  } catch {
    return rest.slice(1);
  }
}

function openaiList(models: readonly ListedModel[]): JsonObject {
  return { object: "list", data: models.map(openaiModel) };
}

/** The creation time is unknown; the APIs use the epoch for that. */
function openaiModel({ id, owner }: ListedModel): JsonObject {
  return { id, object: "model", created: 0, owned_by: owner };
}

function anthropicModel({ id }: ListedModel): JsonObject {
  return { type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" };
}

/** Returns the requested page of the list (Anthropic, List Models). */
function anthropicPage(models: readonly ListedModel[], query: string): JsonObject {
  const after = place(models, queryValue(query, "after_id"));
  const before = place(models, queryValue(query, "before_id"));
  const limit = Number(queryValue(query, "limit") ?? "") || DEFAULT_LIMIT;
  const rest = models.slice(after === undefined ? 0 : after + 1, before);
  const page = before === undefined ? rest.slice(0, limit) : rest.slice(-limit);
  return {
    data: page.map(anthropicModel),
    has_more: page.length < rest.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** Default limit of Anthropic's API. */
const DEFAULT_LIMIT = 20;

function place(models: readonly ListedModel[], id: string | undefined): number | undefined {
  const index = models.findIndex((model) => model.id === id);
  return index === -1 ? undefined : index;
}

function respondJson(exchange: Exchange, value: JsonObject): void {
  exchange.respond(200, ["content-type", "application/json"], JSON.stringify(value));
}
