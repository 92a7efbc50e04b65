import { type MessageFormat, messageFormat } from "../../chat/message-format.ts";
import { converseClient } from "./client.ts";
import { converseUpstream } from "./upstream.ts";

/** Captured messages of Bedrock's Converse. */
export const converseCapture: MessageFormat = messageFormat(converseClient, converseUpstream);
