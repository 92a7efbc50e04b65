import type { UpstreamHandler } from "../http/upstream.ts";
import { activeTargets, type SessionContext } from "./session-context.ts";
import { sendInSession } from "./session-request.ts";
import { headersForTarget } from "./upstream-headers.ts";

/** Tells every HTTP target of a session that it is over; nobody waits for their answers. */
export function endTargetSessions(context: SessionContext): void {
  const { exchange, session: mcpSession } = context;
  for (const { target, session } of activeTargets(context)) {
    if (session.kind !== "http" || session.id === "" || target.kind !== "streamableHttp") continue;
    sendInSession(
      {
        target,
        session,
        owner: mcpSession,
        method: "DELETE",
        headers: headersForTarget(exchange, target.credentials),
        version: exchange.header("mcp-protocol-version"),
        acceptEncoding: undefined,
        lastEventId: undefined,
        body: null,
      },
      ignored,
    );
  }
}

/** A target may refuse (405): its session then ends by its own rules. */
const ignored: UpstreamHandler = {
  onHead: () => {},
  onData: () => true,
  onEnd: () => {},
  onError: () => {},
};
