import type { Message } from "./message.ts";

/** True for a request or notification of a client that a served revision of MCP has (2025-03-26 to 2025-11-25). */
export function isSpecified({ kind, method }: Pick<Message, "kind" | "method">): boolean {
  return kind === "notification" ? notifications.has(method) : requests.has(method);
}

const requests: ReadonlySet<string> = new Set([
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "completion/complete",
  "logging/setLevel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tasks/cancel",
]);

const notifications: ReadonlySet<string> = new Set([
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/roots/list_changed",
  "notifications/tasks/status",
]);
