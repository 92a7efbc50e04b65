import { bufferBody } from "../http/buffer-body.ts";
import type { Exchange, Handled } from "../http/exchange.ts";
import { thenMaybe } from "../process/maybe-promise.ts";
import { readCall } from "./calls/chat-call.ts";
import { refuseClosedModel } from "./calls/open-models.ts";
import { respondRefusal } from "./calls/respond-failed-call.ts";
import type { ConditionalChoice } from "./calls/target.ts";
import { unknownModel } from "./calls/unknown-model.ts";
import { LlmRefusal } from "./chat/llm-error.ts";
import { completionsErrors } from "./formats/completions/errors.ts";
import { firstOf, type PassService, type PassTarget, passTo, pathAt } from "./pass-through.ts";

/** Models whose requests pass unread. */
export interface ModelPassService extends Omit<PassService, "targets"> {
  readonly targets: ConditionalChoice<PassTarget>;
  /** Maximum size of a request body, in bytes. */
  readonly limit: number;
}

/** Forwards a request unread to the provider of the model that its path or its JSON body names. */
export function passByModel(exchange: Exchange, service: ModelPassService): Handled {
  const model = modelInPath(exchange.path);
  if (model !== undefined) {
    pass(exchange, service, model);
    return;
  }
  return thenMaybe(bufferBody(exchange, service.limit), (isThere) => {
    if (isThere) pass(exchange, service, modelInBody(exchange));
  });
}

/** Returns the model in a path of Bedrock, Gemini or Vertex AI: `/model/NAME/converse`, `/models/NAME:method`. */
function modelInPath(path: string): string | undefined {
  const [, model] = /\/models?\/([^/]+?)(?:\/|:[A-Za-z]+$)/.exec(path) ?? [];
  try {
    return model === undefined ? undefined : decodeURIComponent(model);
  } catch {
    return undefined;
  }
}

/** Returns the model in a JSON body; `undefined` if there is none. */
function modelInBody(exchange: Exchange): string | undefined {
  try {
    return readCall(exchange).model;
  } catch (error) {
    if (error instanceof LlmRefusal) return undefined;
    throw error;
  }
}

function pass(exchange: Exchange, service: ModelPassService, model: string | undefined): void {
  if (refuseClosedModel(exchange, model)) return;
  try {
    const targets = service.targets(model, { request: exchange, llmRequest: {} });
    if (targets === undefined) throw unknownModel(model);
    const target = firstOf(exchange, { ...service, targets: () => targets });
    if (target !== undefined)
      passTo(exchange, target.provider, { ...service, path: pathAt(exchange, target) });
  } catch (error) {
    respondRefusal(exchange, error, completionsErrors);
  }
}
