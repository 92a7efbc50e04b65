import { Handover } from "../http/engine/handover/handover.ts";
import { sessionOwner } from "./session/session-owner.ts";

/** Lets any thread of a process serve the sessions of all. `thread`: which one this is. */
export function sessionHandover(thread: number): Handover {
  return new Handover(thread, sessionOwner);
}
