import { type MessageFormat, messageFormat } from "../../chat/message-format.ts";
import { messagesClient } from "./client.ts";
import { messagesUpstream } from "./upstream.ts";

/** Captured messages of Anthropic's API. */
export const messagesCapture: MessageFormat = messageFormat(messagesClient, messagesUpstream);
