/** The kinds of things that servers offer and rules apply to. */
export type McpPrimitiveKind = "tool" | "prompt" | "resource";

/** The lists of a server, by their field in results. */
export type ItemList = "tools" | "prompts" | "resources" | "resourceTemplates";

/** How a list is requested and read. */
export interface ItemListForm {
  /** The request that returns it. */
  readonly method: string;
  /** The capability that servers with this list declare. */
  readonly capability: "tools" | "prompts" | "resources";
  /** The kind of its entries in rules. */
  readonly kind: McpPrimitiveKind;
  /** The field that identifies an entry. */
  readonly nameField: string;
  /** The word for one entry in messages. */
  readonly word: string;
}

/** The lists of MCP (2025-11-25 and 2026-07-28, schema). */
export const itemLists: Readonly<Record<ItemList, ItemListForm>> = {
  tools: {
    method: "tools/list",
    capability: "tools",
    kind: "tool",
    nameField: "name",
    word: "tool",
  },
  prompts: {
    method: "prompts/list",
    capability: "prompts",
    kind: "prompt",
    nameField: "name",
    word: "prompt",
  },
  resources: {
    method: "resources/list",
    capability: "resources",
    kind: "resource",
    nameField: "uri",
    word: "resource",
  },
  resourceTemplates: {
    method: "resources/templates/list",
    capability: "resources",
    kind: "resource",
    nameField: "uriTemplate",
    word: "resource template",
  },
};

/** The names of the lists, in the order in which they are written. */
export const ITEM_LIST_NAMES: readonly ItemList[] = [
  "tools",
  "prompts",
  "resources",
  "resourceTemplates",
];
