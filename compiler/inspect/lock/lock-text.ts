import { stringify } from "yaml";
import { LOCK_VERSION } from "../../backends/mcp/tool-lock.ts";
import type { LockedTarget, LockedTool } from "../../model/tool-lock.ts";

const HEAD =
  "# The tools that MCP servers offered when they were approved: written by `gwc lock`, read at build.\n" +
  '# A digest is SHA-256 of a part of a tool\'s definition; "hidden" counts characters that nobody sees.\n';

/** A lock as it stands in its file: the same text for the same tools. */
export function lockText(targets: readonly LockedTarget[]): string {
  const sorted = targets.toSorted(
    (a, b) => compared(a.name, b.name) || compared(a.server, b.server),
  );
  const value = {
    version: LOCK_VERSION,
    targets: sorted.map(({ name, server, tools }) => ({
      name,
      server,
      tools: Object.fromEntries(
        tools.toSorted((a, b) => compared(a.name, b.name)).map((tool) => [tool.name, entry(tool)]),
      ),
    })),
  };
  return HEAD + stringify(value, { lineWidth: 0 });
}

function entry({ description, hidden, digests }: LockedTool) {
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
