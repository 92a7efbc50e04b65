import { readWhole, replaceWhole } from "../../http/buffer-body.ts";
import type { Exchange } from "../../http/exchange.ts";
import { refuseAs, withinDeadline } from "../custom.ts";
import { type CustomPolicy, countCall, failed } from "./custom-policy.ts";
import { hookBody } from "./hook-body.ts";
import { MadeRefusal } from "./made-refusal.ts";
import { type KnownIdentities, RequestView } from "./request-view.ts";

/**
 * Runs the `requestBody` hook of a policy on the whole body, of at most `limit` bytes. Resolves with false if the request was
 * refused.
 */
export async function applyToBody(
  exchange: Exchange,
  policy: CustomPolicy,
  limit: number,
  identities?: KnownIdentities,
): Promise<boolean> {
  const received = await readWhole(exchange, limit);
  if (received === undefined) return false;
  const view = new RequestView(exchange, identities);
  try {
    // A copy: changes of the received bytes would change what other policies read.
    const result = await withinDeadline(exchange, policy, view, "requestBody", () =>
      policy.definition.requestBody?.(new Uint8Array(received), policy.options, view),
    );
    if (exchange.isOver) return false;
    if (MadeRefusal.isMade(result)) return refuseAs(exchange, policy, "requestBody", result);
    if (result !== undefined) replaceWhole(exchange, hookBody(result, limit));
    countCall(exchange, policy, "requestBody", "ok");
    return true;
  } catch (error) {
    return failed(exchange, policy, "requestBody", error);
  }
}
