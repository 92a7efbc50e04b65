import { bufferBody } from "../http/buffer-body.ts";
import type { Exchange, Handled } from "../http/exchange.ts";
import type { TriedCall } from "../policies/retry/tries.ts";
import { thenMaybe } from "../process/maybe-promise.ts";
import { CallAttempts } from "./calls/call-attempts.ts";
import { readCall } from "./calls/chat-call.ts";
import type { ChatService } from "./calls/chat-service.ts";
import { expectTokens } from "./calls/count-tokens.ts";
import { requireOpenModels } from "./calls/open-models.ts";
import { recordCall } from "./calls/record-call.ts";
import { RequestOfCall } from "./calls/request-of-call.ts";
import { refuseMethod } from "./calls/respond-error.ts";
import { respondRefusal } from "./calls/respond-failed-call.ts";
import { unasked } from "./calls/target.ts";
import { unserved } from "./calls/unserved-model.ts";

/**
 * Serves one request: reads it, tries providers until one responds, and forwards that response. `tried`: retry policy; if
 * absent, each provider is tried once.
 */
export function serveChat(exchange: Exchange, service: ChatService, tried?: TriedCall): Handled {
  if (refuseMethod(exchange, service.errors)) return;
  return thenMaybe(bufferBody(exchange, service.limit), (isThere) =>
    isThere ? serveRead(exchange, service, tried) : undefined,
  );
}

function serveRead(
  exchange: Exchange,
  service: ChatService,
  tried: TriedCall | undefined,
): Handled {
  const refused = (error: unknown): void => respondRefusal(exchange, error, service.errors);
  try {
    const served = serveCall(exchange, service, tried);
    return served instanceof Promise ? served.catch(refused) : undefined;
  } catch (error) {
    refused(error);
  }
}

function serveCall(
  exchange: Exchange,
  service: ChatService,
  tried: TriedCall | undefined,
): Handled {
  const call = (service.readCall ?? readCall)(exchange);
  requireOpenModels(exchange, call);
  const attributes = recordCall(exchange, call, service);
  const conditions = new RequestOfCall(exchange, call);
  const targets = service.targets(call.model, conditions);
  if (targets === undefined) throw unserved(call.model, service);
  if (targets === unasked) return service.estimate?.(exchange, call);
  const context = { exchange, service, call, conditions, attributes, retry: tried };
  const isExpected = service.expectsTokens !== true || expectTokens(exchange, call);
  return thenMaybe(isExpected, (isWithin) =>
    isWithin ? new CallAttempts(context, targets).tryNext() : undefined,
  );
}
