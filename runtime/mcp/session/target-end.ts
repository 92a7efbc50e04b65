import type { Exchange } from "../../http/exchange.ts";
import type { UpstreamHandler } from "../../http/upstream/upstream.ts";
import type { McpTarget } from "../transports/target.ts";
import { headersForTarget } from "../transports/upstream-headers.ts";
import type { TargetSession } from "./session.ts";
import { sendInSession } from "./session-request.ts";

/** Notifies an HTTP target that a session has ended, without waiting for the response. */
export function endTargetSession(
  exchange: Exchange,
  target: McpTarget,
  session: TargetSession,
): void {
  if (session.kind !== "http" || session.id === "" || target.kind !== "streamableHttp") return;
  sendInSession(
    {
      target,
      session,
      owner: undefined,
      method: "DELETE",
      headers: headersForTarget(exchange, target),
      version: exchange.header("mcp-protocol-version"),
      acceptEncoding: undefined,
      lastEventId: undefined,
      trace: exchange.trace,
      message: undefined,
      body: null,
    },
    ignored,
  );
}

/** Ignores the response: a target that refuses (405) ends the session by its own rules. */
const ignored: UpstreamHandler = {
  onHead: () => {},
  onData: () => true,
  onEnd: () => {},
  onError: () => {},
};
