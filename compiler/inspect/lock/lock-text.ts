import { stringify } from "yaml";
import { ITEM_LIST_NAMES } from "../../../runtime/mcp/protocol/item-lists.ts";
import { LOCK_VERSION } from "../../backends/mcp/tool-lock.ts";
import type { LockedInstructions, LockedItem, LockedTarget } from "../../model/tool-lock.ts";

const HEAD =
  "# Approved offers of MCP servers. Written by `gwc lock`, read at build.\n" +
  '# Digests are SHA-256 of parts of an item\'s definition; "hidden" counts invisible characters.\n';

/** Formats a lock file; equal items always give equal files. */
export function lockText(targets: readonly LockedTarget[]): string {
  const sorted = targets.toSorted(
    (a, b) => compared(a.name, b.name) || compared(a.server, b.server),
  );
  const value = {
    version: LOCK_VERSION,
    targets: sorted.map(({ name, server, instructions, items }) => ({
      name,
      server,
      ...(instructions && { instructions: shownInstructions(instructions) }),
      ...Object.fromEntries(
        ITEM_LIST_NAMES.flatMap((list) => {
          const own = items.filter((item) => item.list === list);
          return own.length === 0 ? [] : [[list, entries(own)]];
        }),
      ),
    })),
  };
  return HEAD + stringify(value, { lineWidth: 0 });
}

function shownInstructions({ text, hidden, digest }: LockedInstructions) {
  return { text, ...(hidden > 0 && { hidden }), digest };
}

function entries(items: readonly LockedItem[]) {
  const sorted = items.toSorted((a, b) => compared(a.name, b.name));
  return Object.fromEntries(sorted.map((item) => [item.name, entry(item)]));
}

function entry({ description, hidden, digests, arguments: given }: LockedItem) {
  const sorted = Object.entries(digests).toSorted(([a], [b]) => compared(a, b));
  return {
    ...(description !== "" && { description }),
    ...(hidden > 0 && { hidden }),
    digests: Object.fromEntries(sorted),
    ...(given && given.length > 0 && { arguments: given }),
  };
}

function compared(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
