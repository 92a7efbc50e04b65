import type { Exchange } from "../../http/exchange.ts";
import * as real from "../../mcp/shares.ts";
import type { MaybePromise } from "../../process/maybe-promise.ts";
import { currentTrial } from "../trial.ts";

export { openShares, sharedBackend } from "../../mcp/shares.ts";

/** Replaces mcp/shares.ts: chooses the backend that the trial names, instead of a random one. */
export function chooseShare(
  exchange: Exchange,
  shares: real.Shares,
): MaybePromise<real.Share | undefined> {
  if (exchange.header("mcp-session-id") !== undefined) return real.chooseShare(exchange, shares);
  const { message, mcpServer } = currentTrial().request;
  const [first] = shares.backends;
  if (message === undefined && shares.hasOthers) return "others";
  const meant = shares.backends.find(({ targets }) =>
    targets.some(({ name }) => name === mcpServer),
  );
  return meant ?? first;
}
