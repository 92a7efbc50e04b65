import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { ChatCall } from "./chat-call.ts";
import { otherModels } from "./named-models.ts";

/** Whether the caller may use a model. If models are restricted, a request must name one. */
export function isOpenModel({ attributes }: Exchange, model: string | undefined): boolean {
  const { allowedModels } = attributes;
  return allowedModels === undefined || (model !== undefined && allowedModels(model));
}

/** Throws LlmRefusal unless the caller may use the model of a call, and all models that a provider may use instead. */
export function requireOpenModels(exchange: Exchange, call: ChatCall): void {
  if (exchange.attributes.allowedModels === undefined) return;
  const { body, model } = call;
  if (!isOpenModel(exchange, model)) throw closedModel(model, "model");
  for (const { name, field } of otherModels(body))
    if (!isOpenModel(exchange, name)) throw closedModel(name, field);
}

function closedModel(model: string | undefined, field: string): LlmRefusal {
  return new LlmRefusal({ kind: "permission", message: closedText(model), field });
}

/** Responds with 403 to a request that passes unread, if the caller may not use its model; false if it may. */
export function refuseClosedModel(exchange: Exchange, model: string | undefined): boolean {
  if (isOpenModel(exchange, model)) return false;
  refuse(exchange, 403, "Authorization", closedText(model));
  return true;
}

function closedText(model: string | undefined): string {
  const what = model === undefined ? "a request without a known model" : `the model "${model}"`;
  return `${what} is not open to this API key`;
}
