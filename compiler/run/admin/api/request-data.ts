import type { JournalEntry } from "../../journal-entry.ts";
import type { LiveView } from "../view.ts";
import type { RequestsData, SeenRequest } from "./admin-api.ts";

/** Maximum characters of a text that a client chooses. */
const MAX_TEXT = 500;

/** Maximum notes of a request that are shown. */
const MAX_NOTES = 40;

/** Returns requests in flight, then those that are over, the latest first; and MCP sessions. */
export function requestsData({ journal }: LiveView): RequestsData {
  return {
    now: Date.now(),
    requests: journal.entries.map(requestData),
    sessions: journal.sessions.map(({ name, route, subject, client, began, last, requests }) => ({
      ...{ name, client, requests },
      route: route ?? null,
      subject: subject === undefined ? null : cut(subject),
      began: began.getTime(),
      last: last.getTime(),
    })),
  };
}

/** Returns a request as the page shows it. */
export function requestData(entry: JournalEntry): SeenRequest {
  const { id, at, client, status, duration, listener, route, upstream, reason, traceId } = entry;
  return {
    ...{ id, client },
    at: at.getTime(),
    method: cut(entry.method),
    host: cut(entry.host),
    path: cut(entry.path),
    listener: listener ?? null,
    route: route ?? null,
    status: status ?? null,
    duration: duration ?? null,
    caller: entry.caller === undefined ? null : cut(entry.caller),
    traceId: traceId ?? null,
    reason: reason ?? null,
    upstream: upstream ?? null,
    notes: entry.notes.slice(0, MAX_NOTES).map(([name, value]) => [name, cut(value)] as const),
  };
}

function cut(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}
