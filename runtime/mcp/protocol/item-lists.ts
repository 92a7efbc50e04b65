/** What servers offer, and what rules are about. */
export type McpPrimitiveKind = "tool" | "prompt" | "resource";

/** The lists of a server, as results call them. */
export type ItemList = "tools" | "prompts" | "resources" | "resourceTemplates";

/** How a list is asked for and read. */
export interface ItemListForm {
  /** The request that is answered with it. */
  readonly method: string;
  /** The capability of a server that has it. */
  readonly capability: "tools" | "prompts" | "resources";
  /** What its entries are to rules. */
  readonly kind: McpPrimitiveKind;
  /** The field of an entry that it is found by. */
  readonly nameField: string;
  /** What one entry is called. */
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

/** Their names, in the order in which they are written. */
export const ITEM_LIST_NAMES: readonly ItemList[] = [
  "tools",
  "prompts",
  "resources",
  "resourceTemplates",
];
