import { childOf, type Diagnostics, type Origin } from "../../diagnostics/diagnostic.ts";
import type { Json } from "../../model/json.ts";
import type { ToolLockNode } from "../../model/tool-lock.ts";
import type { SetTool } from "../../model/tool-sets.ts";
import { type Infer, json, list, map, object, shortText, text } from "../../schema/schema.ts";
import type { OpenApiToolNode } from "./openapi-tools.ts";

/** A tool that clients see in another way than its server lists it, as configured. */
export interface ToolViewConfig {
  readonly target: string;
  /** The server's name of the tool. */
  readonly tool: string;
  /** The client's name; `undefined` for the one without a view. */
  readonly name: string | undefined;
  /** `undefined` for the server's. */
  readonly description: string | undefined;
  readonly set: Readonly<Record<string, Json>>;
  readonly hide: readonly string[];
  readonly origin: Origin;
}

/** A view with the client's names. */
export interface ToolViewNode extends SetTool {
  /** The client's name if the tool had no view. */
  readonly listedAs: string;
}

const argument = shortText("Name of an argument.", { maxLength: 128 });

const fields = {
  target: shortText("Name of the target with the tool.", { refersTo: ["server"] }),
  tool: shortText("The server's name of the tool, without prefix. Rules use this name."),
  name: shortText("Name of the tool for clients, instead of the server's with prefix.", {
    maxLength: 64,
    pattern: "^[A-Za-z0-9_-]+$",
    form: 'letters, digits, "_" and "-"',
  }),
  description: text("Description for clients, instead of the server's.", { maxLength: 4096 }),
  set: map(json, {
    maxProperties: 64,
    description:
      "Values of arguments by name. Clients neither see nor set these arguments, and rules read these values.",
  }),
  hide: list(argument, {
    minItems: 1,
    maxItems: 64,
    uniqueItems: true,
    description: "Arguments that clients neither see nor set, and that calls do not contain.",
  }),
};

/** Schema of a tool of a view, which may be as its server lists it. */
export const viewedToolSchema = object(fields, {
  required: ["target", "tool"],
  description: "A tool of the view.",
  examples: [{ target: "tools", tool: "search", set: { limit: 10 } }],
});

/** Schema of `tools`, which is the same in both forms. */
export const toolViewsSchema = list(
  object(fields, {
    required: ["target", "tool"],
    atLeastOneOf: ["name", "description", "set", "hide"],
    description: "A tool that clients see in another way than its server lists it.",
    examples: [{ target: "tools", tool: "search", name: "find", set: { limit: 10 } }],
  }),
  {
    minItems: 1,
    maxItems: 256,
    description: "Names, descriptions and arguments of single tools for clients.",
  },
);

/** Converts a validated `tools` to canonical form. */
export function lowerToolViews(
  views: readonly Infer<typeof viewedToolSchema>[] = [],
  origin: Origin,
): readonly ToolViewConfig[] {
  return views.map(({ target, tool, name, description, set = {}, hide = [] }, index) => {
    const at = childOf(origin, index);
    return { target, tool, name, description, set, hide, origin: at };
  });
}

/** A target of the views, with its tools if they are known at build. */
export interface ViewedTarget {
  readonly name: string;
  readonly tools?: readonly OpenApiToolNode[];
}

/** The names of an endpoint. */
interface Names {
  /** Whether names of tools contain their target. */
  readonly arePrefixed: boolean;
  readonly lock: ToolLockNode | undefined;
}

/** Reports a mistake in a field of an entry. */
type ReportView = (origin: Origin, field: string, problem: string) => void;

/** Reports an entry whose target, tool or arguments are known not to exist. */
export function checkedTool(
  view: ToolViewConfig,
  targets: readonly ViewedTarget[],
  lock: ToolLockNode | undefined,
  report: ReportView,
): void {
  const target = targets.find(({ name }) => name === view.target);
  if (target === undefined) report(view.origin, "target", `there is no target "${view.target}"`);
  else if (toolsOf(target, lock)?.includes(view.tool) === false)
    report(view.origin, "tool", `"${view.target}" has no tool "${view.tool}"`);
  else reportArguments(target, lock, view, report);
}

/** Returns the views with the client's names; `undefined` if a mistake was reported. */
export function resolveToolViews(
  views: readonly ToolViewConfig[],
  targets: readonly ViewedTarget[],
  { arePrefixed, lock }: Names,
  diagnostics: Diagnostics,
): readonly ToolViewNode[] | undefined {
  let isValid = true;
  const report: ReportView = (origin, field, problem) => {
    isValid = false;
    diagnostics.report("bad-tool-view", childOf(origin, field), { problem });
  };
  const tools = new Set<string>();
  const names = new Set<string>();
  const nodes = views.map((view): ToolViewNode => {
    const { origin } = view;
    const listedAs = arePrefixed ? `${view.target}_${view.tool}` : view.tool;
    const name = view.name ?? listedAs;
    checkedTool(view, targets, lock, report);
    if (tools.has(listedAs)) report(origin, "tool", "the tool has another view before");
    if (names.has(name))
      report(
        origin,
        view.name === undefined ? "tool" : "name",
        `another view has the name "${name}"`,
      );
    const owner = targets.find((each) => arePrefixed && name.startsWith(`${each.name}_`));
    if (owner !== undefined && name !== listedAs)
      report(
        origin,
        "name",
        `tools of the target "${owner.name}" have names that begin with "${owner.name}_"`,
      );
    tools.add(listedAs);
    names.add(name);
    return { ...view, name, listedAs };
  });
  return isValid ? nodes : undefined;
}

/** Reports arguments that a tool is known not to have, and those that are both set and hidden. */
function reportArguments(
  target: ViewedTarget,
  lock: ToolLockNode | undefined,
  { tool, set, hide, origin }: ToolViewConfig,
  report: ReportView,
): void {
  const known = argumentsOf(target, lock, tool);
  for (const [field, names] of Object.entries({ set: Object.keys(set), hide })) {
    const other = known && names.find((name) => !known.includes(name));
    if (other !== undefined) report(origin, field, `"${tool}" has no argument "${other}"`);
  }
  const twice = hide.find((name) => Object.hasOwn(set, name));
  if (twice !== undefined) report(origin, "hide", `"${twice}" is in "set", too`);
}

/** Returns the arguments that a tool is known to have; `undefined` if they are unknown. */
function argumentsOf(
  { name, tools }: ViewedTarget,
  lock: ToolLockNode | undefined,
  tool: string,
): readonly string[] | undefined {
  const documented = tools?.find((each) => each.name === tool)?.inputSchema.properties;
  if (typeof documented === "object" && documented !== null) return Object.keys(documented);
  const items = lock?.targets.find((each) => each.name === name)?.items;
  return items?.find((item) => item.list === "tools" && item.name === tool)?.arguments;
}

/** Returns the tools that a target is known to have; `undefined` if they are unknown. */
function toolsOf(
  { name, tools }: ViewedTarget,
  lock: ToolLockNode | undefined,
): readonly string[] | undefined {
  if (tools !== undefined) return tools.map((tool) => tool.name);
  const items = lock?.targets.find((each) => each.name === name)?.items;
  return items?.filter((item) => item.list === "tools").map((item) => item.name);
}
