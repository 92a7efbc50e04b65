import type { Socket } from "node:net";
import type { Metrics } from "../metrics/metrics.ts";
import {
  type ConnectionRules,
  type ConnectionVerdict,
  connectedClient,
} from "./connected-client.ts";
import { ignoreError } from "./socket-reads.ts";

/** Connections of a port that wait for the verdict of its rules. */
export class WaitingConnections {
  readonly #waiting: Set<Socket> = new Set();
  readonly #metrics: Metrics;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
  }

  /**
   * Applies the rules to a connection, of which nothing is read until then. Calls one of the functions, at once if no server is
   * asked; neither if the client has left. `denied` gets the rule that forbids the client to connect.
   */
  judge(
    socket: Socket,
    rules: ConnectionRules | undefined,
    allowed: () => void,
    denied: (rule: string) => void,
  ): void {
    if (rules === undefined) {
      allowed();
      return;
    }
    const apply = ({ isAllowed, rule }: ConnectionVerdict): void =>
      isAllowed ? allowed() : denied(rule);
    const leaves: (() => void)[] = [];
    const waiting = { metrics: this.#metrics, onAbort: (leave: () => void) => leaves.push(leave) };
    const verdict = rules(connectedClient(socket), waiting);
    if (!(verdict instanceof Promise)) {
      apply(verdict);
      return;
    }
    const left = () => {
      for (const leave of leaves) leave();
    };
    this.#waiting.add(socket);
    socket.on("error", ignoreError);
    socket.on("close", left);
    const settle = (found: ConnectionVerdict): void => {
      this.#waiting.delete(socket);
      socket.off("close", left);
      if (socket.destroyed) return;
      apply(found);
      socket.off("error", ignoreError);
    };
    verdict.then(settle, ({ message }: Error) => settle({ isAllowed: false, rule: message }));
  }

  /** Aborts all of them. */
  destroy(): void {
    for (const socket of this.#waiting) socket.destroy();
  }
}
