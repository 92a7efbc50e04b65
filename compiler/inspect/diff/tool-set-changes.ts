import { toolSets } from "../../backends/index.ts";
import type { BackendNode } from "../../ir/backends.ts";
import { changedFields, flatFields } from "../../ir/settings-text.ts";
import type { SettingsChange } from "../../model/access.ts";
import { boundArguments, type SetTool, type ToolSet } from "../../model/tool-sets.ts";

/** Compares the views of backends, and the tools that they change outside of views. */
export function toolSetChanges(
  before: readonly BackendNode[],
  after: readonly BackendNode[],
): readonly SettingsChange[] {
  const [old, now] = [before, after].map((nodes) => nodes.flatMap(toolSets));
  return pairs(old ?? [], now ?? [], ({ view }) => view ?? "").flatMap(([from, to]) =>
    setChanges(from, to),
  );
}

function setChanges(from: ToolSet | undefined, to: ToolSet | undefined): readonly SettingsChange[] {
  const view = (from ?? to)?.view;
  if (view === undefined) return toolChanges("", from?.tools ?? [], to?.tools ?? [], "changed");
  const what = `view ${view}`;
  // Without the view, clients at its path see all tools.
  if (to === undefined)
    return [{ direction: "opens", text: `${what} removed: clients at /${view} see all tools` }];
  if (from === undefined)
    return [{ direction: "closes", text: `${what} added: clients at /${view} see ${listed(to)}` }];
  return toolChanges(`${what}: `, from.tools, to.tools, "offered");
}

function listed({ tools }: ToolSet): string {
  const names = tools.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = tools.length - names.length;
  return `only ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Maximum number of tools of a new view that are named. */
const MAX_NAMES = 8;

/** `meaning`: whether clients see only these tools, or others as well, as servers list them. */
function toolChanges(
  prefix: string,
  before: readonly SetTool[],
  after: readonly SetTool[],
  meaning: "offered" | "changed",
): readonly SettingsChange[] {
  return pairs(before, after, ({ target, tool }) => `${target} ${tool}`).flatMap(([from, to]) => {
    const { target = "", tool = "" } = from ?? to ?? {};
    const what = `${prefix}tool ${tool} of ${target}`;
    if (meaning === "offered" && to === undefined)
      return [{ direction: "closes", text: `${what} removed` } as const];
    if (meaning === "offered" && from === undefined)
      return [{ direction: "opens", text: `${what} added${withArguments(to)}` } as const];
    return fieldChanges(what, from, to);
  });
}

function withArguments(tool: SetTool | undefined): string {
  const names = tool === undefined ? [] : boundArguments(tool);
  return names.length === 0 ? "" : `, without the arguments ${names.join(", ")}`;
}

function fieldChanges(
  what: string,
  from: SetTool | undefined,
  to: SetTool | undefined,
): readonly SettingsChange[] {
  const old = from === undefined ? [] : boundArguments(from);
  const now = to === undefined ? [] : boundArguments(to);
  const freed = old.filter((name) => !now.includes(name));
  const taken = now.filter((name) => !old.includes(name));
  const rest = changedFields(
    flatFields(shownFields(from)),
    flatFields(shownFields(to)),
    () => true,
  );
  return [
    ...freed.map((name) => {
      return { direction: "opens", text: `${what}: clients set the argument ${name}` } as const;
    }),
    ...taken.map((name) => {
      const text = `${what}: clients do not set the argument ${name}`;
      return { direction: "closes", text } as const;
    }),
    ...rest.map((text) => ({ direction: "changes", text: `${what}: ${text}` }) as const),
  ];
}

/** Returns the fields of a tool whose effect on access is not known. */
function shownFields(tool: SetTool | undefined): object {
  return tool === undefined
    ? {}
    : { name: tool.name, description: tool.description, set: tool.set };
}

/** Pairs the items of two lists by a key, in the order of the first list. */
function pairs<Item>(
  before: readonly Item[],
  after: readonly Item[],
  keyOf: (item: Item) => string,
): readonly (readonly [Item | undefined, Item | undefined])[] {
  const [old, now] = [before, after].map(
    (items) => new Map(items.map((item) => [keyOf(item), item])),
  );
  return [...new Set([...(old ?? new Map()).keys(), ...(now ?? new Map()).keys()])].map((key) => [
    old?.get(key),
    now?.get(key),
  ]);
}
