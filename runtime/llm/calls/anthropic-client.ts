import type { Exchange } from "../../http/exchange.ts";
import { headerValue } from "../../http/headers/header-list.ts";

/** Whether a client uses Anthropic's API, at a path that OpenAI has, too. Anthropic requires the header. */
export function isAnthropicClient({ requestHeaders }: Exchange): boolean {
  return headerValue(requestHeaders, "anthropic-version") !== undefined;
}
