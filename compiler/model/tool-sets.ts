import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Json } from "./json.ts";

/** Tools as clients see them: those of a view, or those that are changed outside of views. */
export interface ToolSet {
  /** Name of the view; `undefined` outside of views, where clients see other tools as well. */
  readonly view: string | undefined;
  readonly tools: readonly SetTool[];
  readonly origin: Origin;
}

/** A tool of a server, as clients see it. */
export interface SetTool {
  readonly target: string;
  /** The server's name of the tool. */
  readonly tool: string;
  /** The client's name. */
  readonly name: string;
  /** `undefined` for the server's. */
  readonly description: string | undefined;
  /** Values of arguments that clients neither see nor set. */
  readonly set: Readonly<Record<string, Json>>;
  /** Arguments that clients neither see nor set, and that calls do not contain. */
  readonly hide: readonly string[];
  readonly origin: Origin;
}

/** Returns the arguments of a tool that clients neither see nor set. */
export function boundArguments({ set, hide }: Pick<SetTool, "set" | "hide">): readonly string[] {
  return [...Object.keys(set), ...hide];
}

/** The tool sets of a backend, and the backend without them. */
export interface ToolSetForm<Node> {
  of(node: Node): readonly ToolSet[];
  without(node: Node): Node;
}
