import type { JsonObject } from "../cel/variables.ts";
import type { Exchange } from "../http/exchange.ts";
import { headerValue } from "../http/headers/header-list.ts";
import { queryValue } from "../http/routing/query.ts";
import { isOpenModel } from "./calls/open-models.ts";
import { refuseMethod, respondError } from "./calls/respond-error.ts";
import { completionsErrors } from "./formats/completions/errors.ts";
import { messagesErrors } from "./formats/messages/errors.ts";
import { restOfPath } from "./path-rest.ts";

/** A model by the name that clients ask for it. */
export interface ListedModel {
  readonly id: string;
  /** Whose it is: `openai`. */
  readonly owner: string;
}

/**
 * Responds with the models of the configuration that are open to the caller, in the shape of the API that the client speaks. `api`: where the list
 * is; a model stands below it.
 */
export function serveModels(exchange: Exchange, all: readonly ListedModel[], api: string): void {
  const isAnthropic = headerValue(exchange.requestHeaders, "anthropic-version") !== undefined;
  const errors = isAnthropic ? messagesErrors : completionsErrors;
  if (refuseMethod(exchange, errors, ["GET", "HEAD"])) return;
  const models = all.filter((model) => isOpenModel(exchange, model.id));
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
  const message = `the model "${id}" does not exist`;
  exchange.record.reason = "NotFound";
  respondError(exchange, { kind: "not-found", message, field: "model" }, errors);
}

/** What stands below the list; a name that is no valid percent-encoding is nobody's. */
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

/** Nobody knows when a model of the configuration was made: the APIs have the beginning of time for that. */
function openaiModel({ id, owner }: ListedModel): JsonObject {
  return { id, object: "model", created: 0, owned_by: owner };
}

function anthropicModel({ id }: ListedModel): JsonObject {
  return { type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" };
}

/** A page of the list, as its query asks for it (Anthropic, List Models). */
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

/** What Anthropic's API gives without a limit. */
const DEFAULT_LIMIT = 20;

function place(models: readonly ListedModel[], id: string | undefined): number | undefined {
  const index = models.findIndex((model) => model.id === id);
  return index === -1 ? undefined : index;
}

function respondJson(exchange: Exchange, value: JsonObject): void {
  exchange.respond(200, ["content-type", "application/json"], JSON.stringify(value));
}
