import type { Message } from "./message.ts";

/** The methods that clients may send in the revisions of an era. */
export interface EraMethods {
  readonly requests: ReadonlySet<string>;
  readonly notifications: ReadonlySet<string>;
  /** The HTTP status of the response to any other method. */
  readonly unknownStatus: { readonly request: number; readonly notification: number };
}

/** Whether an era defines a request or notification. */
export function isSpecified(
  { requests, notifications }: EraMethods,
  { kind, method }: Pick<Message, "kind" | "method">,
): boolean {
  return kind === "notification" ? notifications.has(method) : requests.has(method);
}

/** The requests of both eras. */
const EVER_METHODS = [
  "tools/list",
  "tools/call",
  "prompts/list",
  "prompts/get",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "completion/complete",
  "tasks/get",
  "tasks/cancel",
] as const;

/** The methods of 2025-03-26 to 2025-11-25. */
export const sessionMethods: EraMethods = {
  requests: new Set([
    ...EVER_METHODS,
    "initialize",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
    "logging/setLevel",
    "tasks/list",
    "tasks/result",
  ]),
  notifications: new Set([
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/roots/list_changed",
    "notifications/tasks/status",
  ]),
  unknownStatus: { request: 200, notification: 400 },
};

/** The methods of 2026-07-28 and of its extension for tasks. */
export const statelessMethods: EraMethods = {
  requests: new Set([...EVER_METHODS, "server/discover", "subscriptions/listen", "tasks/update"]),
  notifications: new Set(["notifications/cancelled"]),
  unknownStatus: { request: 404, notification: 404 },
};

/** The requests that a server may send to a client, in a session or as required input of a request. */
export const INPUT_METHODS: ReadonlySet<string> = new Set([
  "elicitation/create",
  "sampling/createMessage",
  "roots/list",
]);

/** The parameter that the header Mcp-Name repeats, by method (2026-07-28). */
export const NAMED_PARAMS: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);
