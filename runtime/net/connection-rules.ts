import type { Metrics } from "../metrics/metrics.ts";
import { type MaybePromise, thenMaybe } from "../process/maybe-promise.ts";
import type { OnAbort } from "../process/on-abort.ts";
import {
  type AddressedConnection,
  type ConnectedClient,
  type ConnectionRules,
  type ConnectionVerdict,
  connectedClient,
} from "./connected-client.ts";
import { ignoreError } from "./socket-reads.ts";

/** Counters and callbacks of a rule that decides about a client. */
export interface RuleContext {
  readonly metrics: Metrics;
  /** Registers a callback for when the client leaves. */
  readonly onAbort: OnAbort;
}

/** Decides whether a client may connect. */
export type ClientRule = (
  client: ConnectedClient,
  context: RuleContext,
) => MaybePromise<ConnectionVerdict>;

/** Returns rules that allow what all of these allow. Each is asked only if those before it allow. */
export function connectionRules(...rules: readonly ClientRule[]): ConnectionRules {
  const verdict: ConnectionRules["verdict"] = (client, context) =>
    rules.reduce<MaybePromise<ConnectionVerdict>>(
      (before, rule) =>
        thenMaybe(before, (found) => (found.isAllowed ? rule(client, context) : found)),
      ALLOWED,
    );
  return {
    verdict,
    judge: (connection, metrics, allowed, denied) => {
      const leaves: (() => void)[] = [];
      const context = { metrics, onAbort: (leave: () => void) => leaves.push(leave) };
      const found = verdict(connectedClient(connection), context);
      const apply = ({ isAllowed, rule }: ConnectionVerdict): void =>
        isAllowed ? allowed() : denied(rule);
      if (found instanceof Promise) applyLater(found, connection, leaves, apply);
      else apply(found);
    },
  };
}

const ALLOWED: ConnectionVerdict = { isAllowed: true, rule: "" };

/** Applies a verdict once it is known, unless the client has left. Until then, nothing is read from the connection. */
function applyLater(
  verdict: Promise<ConnectionVerdict>,
  connection: AddressedConnection,
  leaves: readonly (() => void)[],
  apply: (verdict: ConnectionVerdict) => void,
): void {
  const left = () => {
    for (const leave of leaves) leave();
  };
  connection.on("error", ignoreError);
  connection.on("close", left);
  const settle = (found: ConnectionVerdict): void => {
    connection.off("close", left);
    if (connection.destroyed) return;
    apply(found);
    connection.off("error", ignoreError);
  };
  verdict.then(settle, ({ message }: Error) => settle({ isAllowed: false, rule: message }));
}
