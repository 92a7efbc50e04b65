import { metaFields } from "./envelope.ts";
import type { Message } from "./message.ts";
import { textAt } from "./message.ts";
import { edited, paramOf, replaced } from "./message-edit.ts";

/** Under which token a request wants to hear of its progress, as JSON text; undefined: it does not. */
export function progressTokenOf(request: Message): string | undefined {
  // Most requests have none; the scan is for those that do.
  if (!request.text.includes("progressToken")) return undefined;
  const fields = metaFields(request);
  const token = typeof fields === "string" ? undefined : fields.get("progressToken");
  return token && textAt(request.text, token);
}

/** News of a request's progress under another token (JSON text); any other message as it is. */
export function withProgressToken(message: Message, token: string | undefined): Message {
  if (token === undefined || message.method !== "notifications/progress") return message;
  const at = paramOf(message, "progressToken");
  return at === undefined ? message : edited(message, [replaced(at, token)]);
}
