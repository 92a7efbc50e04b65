import { stringify } from "yaml";
import { ITEM_LIST_NAMES } from "../../../runtime/mcp/protocol/item-lists.ts";
import { LOCK_VERSION } from "../../backends/mcp/tool-lock.ts";
import type { LockedInstructions, LockedItem, LockedTarget } from "../../model/tool-lock.ts";

const HEAD =
  "# What MCP servers offered when it was approved: written by `gwc lock`, read at build.\n" +
  '# A digest is SHA-256 of a part of an item\'s definition; "hidden" counts characters that nobody sees.\n';

/** A lock as it stands in its file: the same text for the same items. */
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

function entry({ description, hidden, digests }: LockedItem) {
  const sorted = Object.entries(digests).toSorted(([a], [b]) => compared(a, b));
  return {
    ...(description !== "" && { description }),
    ...(hidden > 0 && { hidden }),
    digests: Object.fromEntries(sorted),
  };
}

function compared(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
