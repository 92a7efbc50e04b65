import type { MatrixCall } from "./nine-servers.ts";

/** Findings of a client behind the gateway. */
export interface Trial {
  /** Number of tools that it lists. */
  readonly tools: number;
  /** Texts of the results of the calls, in their order. */
  readonly results: readonly string[];
  /** Text of the result of the tool that asks the user. */
  readonly asked: string;
  /** Text of the app's page; `rendered` if the client shows it; `undefined` if the client cannot read resources. */
  readonly app: string | undefined;
}

/** Tries everything with a client at the address of a gateway. */
export type TryClient = (url: string, calls: readonly MatrixCall[]) => Promise<Trial>;
