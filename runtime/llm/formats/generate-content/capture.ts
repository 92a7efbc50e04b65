import { type MessageFormat, messageFormat } from "../../chat/message-format.ts";
import { generateContentClient } from "./client.ts";
import { generateContentUpstream } from "./upstream.ts";

/** Captured messages of Google's generateContent. */
export const generateContentCapture: MessageFormat = messageFormat(
  generateContentClient,
  generateContentUpstream,
);
