import type { OwnerOf } from "../../http/engine/handover/handover.ts";
import { headerValue } from "../../http/headers/header-list.ts";

/**
 * Returns the suffix of a sealed id: the index of the thread that holds the session, in a process with several threads. The
 * suffix is part of the seal's binding, so an id with another suffix is invalid.
 */
export function ownerMark(thread: number | undefined): string {
  return thread === undefined ? "" : `.${thread}`;
}

/** Splits an id into its sealed part and its suffix, which may be empty. */
export function markedId(id: string): { readonly sealed: string; readonly owner: string } {
  const at = id.lastIndexOf(".");
  return at === -1 ? { sealed: id, owner: "" } : { sealed: id.slice(0, at), owner: id.slice(at) };
}

/** Returns the thread of the session that a request names. It only routes the request; that thread validates the id. */
export const sessionOwner: OwnerOf = ({ fields, rawHeaders }) => {
  const id = fields ? fields.value(NAME) : headerValue(rawHeaders, NAME);
  const mark = id && /\.(\d{1,3})$/.exec(id);
  return mark ? Number(mark[1]) : undefined;
};

const NAME = "mcp-session-id";
