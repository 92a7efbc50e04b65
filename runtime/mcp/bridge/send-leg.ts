import { isObjectAt } from "../../json/json-text.ts";
import { metaKey, withParams } from "../protocol/envelope.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { stringParamOf } from "../protocol/message-edit.ts";
import { readFields } from "../protocol/message-fields.ts";
import { paramHeaderList } from "../protocol/param-headers.ts";
import { STATELESS_REVISION } from "../protocol/revisions.ts";
import { callChild } from "../stateless/shared-child.ts";
import { callStateless } from "../stateless/stateless-call.ts";
import type { BridgedContext, BridgedSession } from "../transports/session-bridge.ts";
import { type Call, type CallSink, endedCall } from "../transports/target.ts";

/**
 * Sends a request to a target without sessions, with the capabilities and info that the client declared when it opened its
 * session.
 */
export function sendLeg(context: BridgedContext, request: Message, sink: CallSink): Call {
  const { exchange, messageLimit, target, session } = context;
  const message = withParams(request, metaOf(context));
  if (target.kind === "streamableHttp") {
    const params = paramHeaderList(message, paramHeadersOf(session, message));
    return callStateless(exchange, target, messageLimit, message, sink, params);
  }
  if (session.connection !== undefined) {
    return callChild(exchange, target, session.connection, message, sink);
  }
  sink.onFailure({ kind: "session", detail: "it has ended" });
  return endedCall;
}

function paramHeadersOf({ paramHeaders }: BridgedSession, message: Message) {
  const name = message.method === "tools/call" ? stringParamOf(message, "name") : undefined;
  return (name === undefined ? undefined : paramHeaders.get(name)) ?? [];
}

function metaOf({ initialize, session }: BridgedContext): Readonly<Record<string, string>> {
  const { capabilities = "{}", clientInfo } =
    initialize === undefined ? {} : declaredAtOpening(initialize);
  return {
    [metaKey.protocolVersion]: JSON.stringify(STATELESS_REVISION),
    [metaKey.clientCapabilities]: capabilities,
    ...(clientInfo === undefined ? {} : { [metaKey.clientInfo]: clientInfo }),
    ...(session.logLevel === undefined ? {} : { [metaKey.logLevel]: session.logLevel }),
  };
}

function declaredAtOpening(initialize: string): {
  readonly capabilities?: string;
  readonly clientInfo?: string;
} {
  const fields = readFields(initialize, 0, new Set(["capabilities", "clientInfo"]));
  if (typeof fields === "string") return {};
  const [capabilities, clientInfo] = [fields.get("capabilities"), fields.get("clientInfo")];
  return {
    ...(capabilities && isObjectAt(initialize, capabilities.start)
      ? { capabilities: textAt(initialize, capabilities) }
      : {}),
    ...(clientInfo === undefined ? {} : { clientInfo: textAt(initialize, clientInfo) }),
  };
}
