import { gatewayGraph } from "../inspect/graph/gateway-graph.ts";
import { mermaidText } from "../inspect/graph/mermaid.ts";
import { svgText } from "../inspect/graph/svg.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import {
  comparedSides,
  readSide,
  type Side,
  severalGateways,
  summaryOf,
} from "./compared-sides.ts";
import { commandInput } from "./default-input.ts";
import { gateway } from "./shared-options.ts";

/** `gwc graph`: the picture of a gateway, and of what a change adds to it and removes. */
export const graph: Command = {
  minPositionals: 0,
  maxPositionals: 2,
  details:
    "Listeners, their routes with policies and rules, and the servers behind them. With OLD and NEW, or --git BASE, what\n" +
    "is added is green, what is removed red, and what is set otherwise yellow; `gwc diff` says what that does. A\n" +
    "bundle's manifest.json is a picture too.",
  options: [
    { name: "git", value: "BASE", summary: "show what changed since a git revision: main, HEAD~1" },
    {
      name: "format",
      value: "FORMAT",
      choices: ["mermaid", "svg"],
      summary: "how it is drawn (default: mermaid, which GitHub shows)",
    },
    gateway,
  ],
  examples: [
    "gwc graph",
    "gwc graph --git main",
    "gwc graph out/gateway/manifest.json --format svg",
  ],
  work: draw,
};

async function draw(given: Arguments, context: CommandContext): Promise<CommandResult> {
  const sides = drawnSides(given, context);
  if ("exitCode" in sides) return sides;
  const read = sides.map((side) => readSide(side, given.options.gateway, context));
  const refused = read.find((side) => side.kind === "refused");
  if (refused !== undefined) return refused.result;
  const drawn = read.filter((side) => side.kind !== "refused");
  const several = severalGateways(drawn);
  if (several !== undefined) return several;
  const [first, second] = drawn.map((side) => summaryOf(side).summary);
  if (first === undefined) throw new Error("there is nothing to draw");
  const picture = second === undefined ? gatewayGraph(first) : gatewayGraph(second, first);
  const format = oneOf(["mermaid", "svg"], given.options.format, "mermaid");
  return { exitCode: 0, stdout: format === "svg" ? svgText(picture) : mermaidText(picture) };
}

/** One configuration, or the old one and the new one. */
function drawnSides(given: Arguments, context: CommandContext): readonly Side[] | CommandResult {
  const { positionals, options } = given;
  if (options.git !== undefined || positionals.length === 2)
    return comparedSides(given, context, "graph");
  const input = commandInput(positionals, context.host, "gwc graph FILE");
  if (input.kind === "none") return input.result;
  return input.files.map((file) => ({ name: "the configuration", file, host: context.host }));
}
