import type { Exchange } from "../../http/exchange.ts";
import { refuse } from "../../http/refuse.ts";
import { LlmRefusal } from "../chat/llm-error.ts";
import type { ChatCall } from "./chat-call.ts";
import { otherModels } from "./named-models.ts";

/** Whether a model is open to the caller; where not every one is, a request has to name its own. */
export function isOpenModel({ attributes }: Exchange, model: string | undefined): boolean {
  const { allowedModels } = attributes;
  return allowedModels === undefined || (model !== undefined && allowedModels(model));
}

/** Throws LlmRefusal unless the model of a call is open to the caller, and those that a provider may ask in its place. */
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

/** Responds (403) to a request that passes unread for a model that is not open to the caller; false: it is. */
export function refuseClosedModel(exchange: Exchange, model: string | undefined): boolean {
  if (isOpenModel(exchange, model)) return false;
  refuse(exchange, 403, "Authorization", closedText(model));
  return true;
}

function closedText(model: string | undefined): string {
  const what = model === undefined ? "a request without a known model" : `the model "${model}"`;
  return `${what} is not open to this API key`;
}
