import { metaFields } from "./envelope.ts";
import type { Message } from "./message.ts";
import { textAt } from "./message.ts";
import { edited, paramOf, replaced } from "./message-edit.ts";

/** Returns the progress token of a request as JSON text; `undefined` if the request wants no progress notifications. */
export function progressTokenOf(request: Message): string | undefined {
  // Most requests have no token; this avoids parsing them.
  if (!request.text.includes("progressToken")) return undefined;
  const fields = metaFields(request);
  const token = typeof fields === "string" ? undefined : fields.get("progressToken");
  return token && textAt(request.text, token);
}

/** Returns a progress notification with another token (JSON text); other messages are returned unchanged. */
export function withProgressToken(message: Message, token: string | undefined): Message {
  if (token === undefined || message.method !== "notifications/progress") return message;
  const at = paramOf(message, "progressToken");
  return at === undefined ? message : edited(message, [replaced(at, token)]);
}
