import { bufferBody } from "../http/buffer-body.ts";
import type { Exchange } from "../http/exchange.ts";
import { noteRefusal } from "../http/refuse.ts";
import { type ChatCall, readCall } from "./calls/chat-call.ts";
import { refuseMethod, respondError } from "./calls/respond-error.ts";
import { LlmRefusal } from "./chat/llm-error.ts";
import { messagesErrors } from "./formats/messages/errors.ts";
import { estimateTokens } from "./formats/token-count/estimate.ts";

/** Says how many tokens a request of the Messages API has where no provider counts them. `limit`: the most bytes of it. */
export async function serveTokenEstimate(exchange: Exchange, limit: number): Promise<void> {
  try {
    if (refuseMethod(exchange, messagesErrors)) return;
    if (!(await bufferBody(exchange, limit))) return;
    respondTokenEstimate(exchange, readCall(exchange));
  } catch (error) {
    if (!(error instanceof LlmRefusal)) throw error;
    noteRefusal(exchange, "BadRequest", error.error.message);
    respondError(exchange, error.error, messagesErrors);
  }
}

/** Says about how many tokens a request of the Messages API has. Throws LlmRefusal when it is no JSON inside. */
export function respondTokenEstimate(exchange: Exchange, call: ChatCall): void {
  const body = JSON.stringify({ input_tokens: estimateTokens(call.body) });
  exchange.respond(200, ["content-type", "application/json"], body);
}
