import { foldCase } from "../../json/fold-case.ts";
import { isObjectAt, objectMembers } from "../../json/json-text.ts";
import { calledName } from "../protocol/called-tool.ts";
import { withParams } from "../protocol/envelope.ts";
import type { McpPrimitiveKind } from "../protocol/item-lists.ts";
import { type Message, textAt } from "../protocol/message.ts";
import { paramOf } from "../protocol/message-edit.ts";
import { unknownPrimitive } from "../protocol/primitives.ts";
import { objectOf } from "./initialize-result.ts";
import type { VisibleItem } from "./whole-list.ts";

/** How clients see a tool of a target. */
export interface ToolView {
  readonly target: string;
  /** The target's name of the tool. */
  readonly tool: string;
  /** The client's name of the tool if it had no view. */
  readonly listedAs: string;
  /** The client's name of the tool. */
  readonly name: string;
  /** Absent if clients see the target's. */
  readonly description?: string;
  /** Values of arguments that clients neither see nor set; JSON values. */
  readonly set?: Readonly<Record<string, unknown>>;
  /** Names of arguments that clients neither see nor set, and that calls do not contain. */
  readonly hide?: readonly string[];
}

/** Which tools clients see that have no view: all, or none. */
export type OtherTools = "shown" | "hidden";

/** The tools of a backend that clients see in another way than their targets list them. */
export class ToolViews {
  readonly #others: OtherTools;
  readonly #byName: ReadonlyMap<string, ToolView>;
  readonly #byTool: ReadonlyMap<string, ToolView>;
  /** The client's names of tools, by the names that they have without views. */
  readonly #shownAs: ReadonlyMap<string, string>;

  constructor(views: readonly ToolView[], others: OtherTools = "shown") {
    this.#others = others;
    this.#byName = new Map(views.map((view) => [view.name, view]));
    this.#byTool = new Map(views.map((view) => [`${view.target}\n${view.tool}`, view]));
    this.#shownAs = new Map(views.map(({ listedAs, name }) => [listedAs, name]));
  }

  /** Whether a name for clients is that of a view. */
  has(name: string | undefined): boolean {
    return name !== undefined && this.#byName.has(name);
  }

  /** Returns the client's name of an item; see `ToolFront`. */
  shownAs(kind: McpPrimitiveKind, name: string): string {
    return (kind === "tool" ? this.#shownAs.get(name) : undefined) ?? name;
  }

  /** Returns the call of a target's tool for a client's call; see `ToolFront`. */
  meant(message: Message): Message | string {
    const name = calledName(message);
    if (name === undefined) return message;
    const view = this.#byName.get(name);
    if (view !== undefined) return callOf(message, view);
    const isHidden = this.#others === "hidden" && message.method === "tools/call";
    return isHidden || this.#shownAs.has(name) ? unknownPrimitive("tool", name) : message;
  }

  /** Whether clients never see a listed tool. */
  hides({ owner, item }: VisibleItem): boolean {
    return this.#others === "hidden" && !this.#byTool.has(`${owner.target.name}\n${item.name}`);
  }

  /**
   * Returns the client's name of a listed tool and its definition (`text`, JSON); `undefined` if a view has the tool's name.
   */
  shown({ owner, item, name }: VisibleItem, text: string): ShownTool | undefined {
    const view = this.#byTool.get(`${owner.target.name}\n${item.name}`);
    if (view !== undefined) return { name: view.name, text: definitionOf(view, text) };
    return this.#byName.has(name) ? undefined : { name, text };
  }
}

/** A tool as a client sees it. */
export interface ShownTool {
  readonly name: string;
  /** The definition as JSON text. */
  readonly text: string;
}

function callOf(message: Message, view: ToolView): Message | string {
  const { set = {}, hide = [] } = view;
  const { text } = message;
  const at = paramOf(message, "arguments");
  const hasNone = at === undefined || textAt(text, at) === "null";
  if (!hasNone && !isObjectAt(text, at.start)) return "Invalid params: arguments must be an object";
  const own = hasNone ? [] : objectMembers(text, at.start);
  // A server that ignores the case of names could read the client's value instead.
  const unseen = new Set([...Object.keys(set), ...hide].map(foldCase));
  const extra = own.find(({ key }) => unseen.has(foldCase(key)));
  if (extra !== undefined)
    return `Invalid params: arguments: unknown argument ${JSON.stringify(extra.key)}`;
  const fixed = Object.entries(set).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  );
  const given = own.map(({ keyStart, end }) => text.slice(keyStart, end));
  const members = { arguments: `{${[...fixed, ...given].join(",")}}` };
  return withParams(message, {}, { ...members, name: JSON.stringify(view.listedAs) });
}

function definitionOf({ name, description, set = {}, hide = [] }: ToolView, text: string): string {
  const { inputSchema, ...tool } = objectOf(JSON.parse(text));
  const { properties, required, ...schema } = objectOf(inputSchema);
  const unseen = new Set<unknown>([...Object.keys(set), ...hide]);
  const seen = Object.entries(objectOf(properties)).filter(([key]) => !unseen.has(key));
  const needed = (Array.isArray(required) ? required : []).filter((each) => !unseen.has(each));
  return JSON.stringify({
    ...tool,
    name,
    ...(description !== undefined && { description }),
    inputSchema: {
      ...schema,
      ...(properties !== undefined && { properties: Object.fromEntries(seen) }),
      ...(needed.length > 0 && { required: needed }),
    },
  });
}
