import { initializeMessage } from "./mcp-client.ts";
import type { ClientMessage, TrialOutcome, TrialRequest } from "./trial.ts";

/**
 * Sends a message as a client of a session does: begins one, sends it `count` times, and ends the session. What comes of the
 * last; where no session begins, what comes of that.
 */
export async function tryInSession(
  request: TrialRequest,
  message: ClientMessage,
  count: number,
  send: (request: TrialRequest) => Promise<TrialOutcome>,
): Promise<TrialOutcome> {
  const opened = await send({ ...request, message: initializeMessage(message) });
  if (opened.status !== 200 || opened.reason !== undefined) return opened;
  const at = opened.headers.findIndex((name) => name.toLowerCase() === "mcp-session-id");
  const session = at < 0 ? {} : { session: opened.headers[at + 1] ?? "" };
  const begun = { ...message, method: "notifications/initialized", params: {}, name: undefined };
  await send({ ...request, message: { ...begun, ...session } });
  let outcome = opened;
  for (let sent = 0; sent < count; sent++)
    outcome = await send({ ...request, message: { ...message, ...session } });
  if (session.session !== undefined) {
    const headers = { ...request.headers, "mcp-session-id": session.session };
    await send({ ...request, method: "DELETE", headers, message: undefined, body: undefined });
  }
  return outcome;
}
