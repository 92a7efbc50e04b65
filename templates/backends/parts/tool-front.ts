import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, literal } from "../../code/code.ts";
import type { Code, Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import { nonEmpty } from "../../code/units.ts";

type McpNode = BackendNode<"mcp">;

/** Writes the search for tools, or the views of tools; `undefined` if clients see the tools of servers. */
export function toolFront(
  { toolSearch, toolViews }: Pick<McpNode, "toolSearch" | "toolViews">,
  others?: "hidden",
): Code | undefined {
  const own = nonEmpty(
    toolViews.map(({ set, hide, description, origin: _, ...view }) => ({
      ...view,
      ...(description !== undefined && { description }),
      ...(Object.keys(set).length > 0 && { set }),
      hide: nonEmpty(hide),
    })),
  );
  if (toolSearch !== undefined) {
    const open = imported("gwc/runtime/mcp/aggregate/tool-search", "toolSearch");
    return code`${open}(${literal({ ...toolSearch, views: own, ...(others && { others }) })})`;
  }
  const open = imported("gwc/runtime/mcp/aggregate/viewed-tools", "toolViews");
  if (own === undefined) return undefined;
  return others === undefined
    ? code`${open}(${literal(own)})`
    : code`${open}(${literal(own)}, ${literal(others)})`;
}

/** Writes the named sets of tools; `undefined` if there are none. */
export function views({ toolSearch, views: named }: McpNode): Printable | undefined {
  if (named.length === 0) return undefined;
  return Object.fromEntries(
    named.map(({ name, tools }) => [name, toolFront({ toolSearch, toolViews: tools }, "hidden")]),
  );
}
