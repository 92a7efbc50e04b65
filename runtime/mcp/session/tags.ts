import type { McpBackend } from "../transports/backend.ts";

/** A sealed id or state as clients get it: of one of several backends it says whose it is. */
export function tagged({ tag = "" }: McpBackend, sealed: string): string {
  return `${tag}${sealed}`;
}

/** The sealed text that a client shows; undefined: this backend has not given it. */
export function untagged({ tag = "" }: McpBackend, shown: string): string | undefined {
  return shown.startsWith(tag) ? shown.slice(tag.length) : undefined;
}
