import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { ToolLockNode } from "../../model/tool-lock.ts";
import { boolean, choice, type Infer, list, object, shortText } from "../../schema/schema.ts";
import {
  checkedTool,
  lowerToolViews,
  type ToolViewConfig,
  type ToolViewNode,
  type ViewedTarget,
  viewedToolSchema,
} from "./tool-views.ts";

/** A named set of tools, as configured. */
export interface McpViewConfig {
  readonly name: string;
  /** Whether names of tools begin with their target; `undefined` if they do with several targets. */
  readonly isPrefixed: boolean | undefined;
  readonly separator: string;
  readonly tools: readonly ToolViewConfig[];
  readonly origin: Origin;
}

/** A named set of tools with the client's names. */
export interface McpViewNode {
  readonly name: string;
  readonly tools: readonly ToolViewNode[];
  readonly origin: Origin;
}

const SEPARATORS = ["_", "__", "-", "."] as const;

const view = object(
  {
    name: shortText("Name of the view: the last segment of its path.", {
      maxLength: 64,
      pattern: "^[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?$",
      form: 'letters, digits and "-"',
    }),
    tools: list(viewedToolSchema, {
      minItems: 1,
      maxItems: 256,
      description: "The tools of the view; clients see no others.",
    }),
    prefix: boolean(
      "Whether names of tools begin with the name of their target: by default only if the endpoint has several targets. A tool with `name` has only that name.",
    ),
    separator: choice("Characters between the names of target and tool.", SEPARATORS, {
      default: SEPARATORS[0],
    }),
  },
  {
    required: ["name", "tools"],
    checks: [
      {
        message: '"separator" cannot be combined with prefix: false',
        field: "separator",
        holds: ({ prefix, separator }) => prefix !== false || separator === undefined,
        cel: "!has(self.prefix) || self.prefix || !has(self.separator)",
      },
    ],
    examples: [{ name: "support", tools: [{ target: "tools", tool: "search" }] }],
    description: "A named set of tools.",
  },
);

/** Schema of `views`, which is the same in both forms. */
export const viewsSchema = list(view, {
  minItems: 1,
  maxItems: 32,
  description:
    "Named sets of tools, chosen by the last segment of the path: requests to `/mcp/support` see only the tools of the view `support`. Other paths see all tools. Rules decide in views, too: a view grants nothing.",
});

/** Converts a validated `views` to canonical form. */
export function lowerViews(
  views: Infer<typeof viewsSchema> = [],
  origin: Origin,
): readonly McpViewConfig[] {
  return views.map(({ name, tools, prefix, separator = SEPARATORS[0] }, index) => {
    const at = childOf(origin, index);
    const own = lowerToolViews(tools, childOf(at, "tools"));
    return { name, isPrefixed: prefix, separator, tools: own, origin: at };
  });
}

/** The endpoint of views. */
interface ViewedEndpoint {
  readonly targets: readonly ViewedTarget[];
  readonly lock: ToolLockNode | undefined;
  /** Whether names of tools contain their target where there is no view. */
  readonly arePrefixed: boolean;
  /** Names of the gateway's own tools. */
  readonly own: readonly string[];
}

/** Maximum length of names that models accept. */
const MAX_NAME = 64;

/** Returns the views with the client's names; `undefined` if a mistake was reported. */
export function resolveViews(
  views: readonly McpViewConfig[],
  endpoint: ViewedEndpoint,
  diagnostics: Diagnostics,
): readonly McpViewNode[] | undefined {
  const nodes = views.flatMap((each, index) => {
    const isTwice = views.slice(0, index).some(({ name }) => name === each.name);
    if (!isTwice) return resolveView(each, endpoint, diagnostics) ?? [];
    const problem = `another view is named "${each.name}"`;
    diagnostics.report("bad-tool-view", childOf(each.origin, "name"), { problem });
    return [];
  });
  return nodes.length === views.length ? nodes : undefined;
}

function resolveView(
  { name, isPrefixed, separator, tools, origin: place }: McpViewConfig,
  { targets, lock, arePrefixed, own }: ViewedEndpoint,
  diagnostics: Diagnostics,
): McpViewNode | undefined {
  let isValid = true;
  const report = (origin: Origin, field: string, problem: string) => {
    isValid = false;
    diagnostics.report("bad-tool-view", childOf(origin, field), { problem });
  };
  const seen = new Set<string>();
  const names = new Set<string>();
  const nodes = tools.map((tool): ToolViewNode => {
    const { origin } = tool;
    const hasPrefix = isPrefixed ?? targets.length > 1;
    const shown = tool.name ?? (hasPrefix ? `${tool.target}${separator}${tool.tool}` : tool.tool);
    const field = tool.name === undefined ? "tool" : "name";
    const listedAs = arePrefixed ? `${tool.target}_${tool.tool}` : tool.tool;
    checkedTool(tool, targets, lock, report);
    const key = `${tool.target}\n${tool.tool}`;
    if (seen.has(key)) report(origin, "tool", "the view has this tool before");
    if (names.has(shown)) report(origin, field, `another tool of the view has the name "${shown}"`);
    if (own.includes(shown)) report(origin, field, `"${shown}" is a tool of the gateway`);
    if (shown.length > MAX_NAME)
      report(origin, field, `"${shown}" has more than ${MAX_NAME} characters: give it a "name"`);
    seen.add(key);
    names.add(shown);
    return { ...tool, name: shown, listedAs };
  });
  return isValid ? { name, tools: nodes, origin: place } : undefined;
}
