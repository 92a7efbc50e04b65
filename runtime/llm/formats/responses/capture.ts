import { type MessageFormat, messageFormat } from "../../chat/message-format.ts";
import { responsesClient } from "./client.ts";
import { responsesUpstream } from "./upstream.ts";

/** Captured messages of OpenAI's Responses API. */
export const responsesCapture: MessageFormat = messageFormat(responsesClient, responsesUpstream);
