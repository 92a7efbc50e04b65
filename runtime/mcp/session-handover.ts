import { Handover } from "../http/engine/handover/handover.ts";
import type { ServeThreadCall } from "../process/gateway-context.ts";
import { goOnFromElsewhere, type WaitingCall } from "./bridge/to-sessions.ts";
import { sessionOwner } from "./session/session-owner.ts";
import { type ChildAddress, callChildFromElsewhere } from "./stateless/shared-child.ts";

/** Lets any thread of a process serve the sessions of all, and call what they hold. `thread`: which one this is. */
export function sessionHandover(thread: number): Handover {
  return new Handover(thread, sessionOwner, serveCall);
}

const serveCall: ServeThreadCall = (gateway, text, request, listener) => {
  // Another thread of this process has written it.
  const address: WaitingCall | ChildAddress = JSON.parse(text);
  return address.kind === "waiting"
    ? goOnFromElsewhere(gateway, address, request, listener)
    : callChildFromElsewhere(gateway, address, request, listener);
};
