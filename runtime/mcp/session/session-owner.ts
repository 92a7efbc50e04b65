import type { OwnerOf } from "../../http/engine/handover/handover.ts";
import { headerValue } from "../../http/headers/header-list.ts";

/**
 * What stands behind a sealed id: the thread that has opened the session and holds what it needs, where a process has several.
 * It says nothing of anybody, and is sealed with the rest: behind another id it makes one that nobody knows.
 */
export function ownerMark(thread: number | undefined): string {
  return thread === undefined ? "" : `.${thread}`;
}

/** An id and its mark; empty where it has none. */
export function markedId(id: string): { readonly sealed: string; readonly owner: string } {
  const at = id.lastIndexOf(".");
  return at === -1 ? { sealed: id, owner: "" } : { sealed: id.slice(0, at), owner: id.slice(at) };
}

/** The thread of the session that a request names, whoever may use it: it is only there that an id is looked at. */
export const sessionOwner: OwnerOf = ({ fields, rawHeaders }) => {
  const id = fields ? fields.value(NAME) : headerValue(rawHeaders, NAME);
  const mark = id && /\.(\d{1,3})$/.exec(id);
  return mark ? Number(mark[1]) : undefined;
};

const NAME = "mcp-session-id";
