import type { GatewayContext, LiveSession } from "../../process/gateway-context.ts";
import type { Message } from "../protocol/message.ts";
import type { ConnectionUse } from "../session/open-connection.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { Call, CallSink, StdioCommand } from "../transports/target.ts";
import type { TargetConnection } from "../transports/target-connection.ts";

/** What a child is sent: one of this thread, or of another one. */
export type ChildConnection = Pick<TargetConnection, "call" | "close" | "isOpen">;

/** Which child: all that another thread needs to know to start it. */
export interface ChildAddress {
  readonly kind: "child";
  /** Whose it is. */
  readonly key: string;
  readonly caller: string;
  readonly target: StdioCommand;
  readonly use: ConnectionUse & Pick<McpBackend, "sessionLimits">;
  /** It is of no use: it ends, in the place of a call. */
  readonly ends?: true;
}

/** What other threads of the process hold, as this one uses it. */
export interface Elsewhere extends LiveSession {
  /** Undefined: it is this thread's. */
  child(address: ChildAddress): ChildConnection | undefined;
  /** Lets the call go on that waits under an id in another thread. */
  goOn(waiting: WaitingElsewhere, request: Message, sink: CallSink): Call;
}

/** A call that waits in another thread than its client has come back to. */
export interface WaitingElsewhere {
  readonly thread: number;
  readonly id: string;
  /** It is over. */
  readonly onGone: () => void;
}

/** Undefined: there are no other threads. */
export function elsewhereOf({ sessions }: Pick<GatewayContext, "sessions">): Elsewhere | undefined {
  // Only `useElsewhere` writes under the key.
  return sessions.get(KEY) as Elsewhere | undefined;
}

/** What is used from now on. */
export function useElsewhere(
  { sessions }: Pick<GatewayContext, "sessions">,
  elsewhere: Elsewhere,
): void {
  sessions.set(KEY, elsewhere);
}

const KEY = "mcp elsewhere";
