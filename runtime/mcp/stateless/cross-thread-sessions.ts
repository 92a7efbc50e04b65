import type { GatewayContext, LiveSession } from "../../process/gateway-context.ts";
import type { Message } from "../protocol/message.ts";
import type { ConnectionUse } from "../session/open-connection.ts";
import type { McpBackend } from "../transports/backend.ts";
import type { Call, CallSink, StdioCommand } from "../transports/target.ts";
import type { TargetConnection } from "../transports/target-connection.ts";

/** A connection to a child of this thread or another one. */
export type ChildConnection = Pick<TargetConnection, "call" | "close" | "isOpen">;

/** Identifies a child, with everything that another thread needs to start it. */
export interface ChildAddress {
  readonly kind: "child";
  /** The owner of the child. */
  readonly key: string;
  readonly caller: string;
  readonly target: StdioCommand;
  readonly use: ConnectionUse & Pick<McpBackend, "sessionLimits">;
  /** Whether the child is to be ended; no call is made then. */
  readonly ends?: true;
}

/** Sessions and children of the other threads of the process. */
export interface OtherThreads extends LiveSession {
  /** Returns the connection to a child on another thread; `undefined` if it belongs to this thread. */
  child(address: ChildAddress): ChildConnection | undefined;
  /** Continues a call that waits on another thread. */
  continueCall(waiting: RemoteCall, request: Message, sink: CallSink): Call;
}

/** A call that waits on another thread than its client has returned to. */
export interface RemoteCall {
  readonly thread: number;
  readonly id: string;
  /** Called if the call has ended. */
  readonly onGone: () => void;
}

/** Returns the access to other threads; `undefined` in a process with one thread. */
export function otherThreadsOf({
  sessions,
}: Pick<GatewayContext, "sessions">): OtherThreads | undefined {
  // Only `useOtherThreads` writes under the key.
  return sessions.get(KEY) as OtherThreads | undefined;
}

/** Sets the access to other threads. */
export function useOtherThreads(
  { sessions }: Pick<GatewayContext, "sessions">,
  otherThreads: OtherThreads,
): void {
  sessions.set(KEY, otherThreads);
}

const KEY = "mcp other threads";
