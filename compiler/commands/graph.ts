import { gatewayGraph } from "../inspect/graph/gateway-graph.ts";
import { mermaidText } from "../inspect/graph/mermaid.ts";
import { svgText } from "../inspect/graph/svg.ts";
import { oneOf } from "./arguments.ts";
import type { Arguments, Command, CommandContext, CommandResult } from "./command.ts";
import {
  comparedSides,
  type ReadSide,
  readSide,
  readSides,
  type Side,
  severalGateways,
  summaryOf,
} from "./compared-sides.ts";
import { commandInput } from "./default-input.ts";
import { fileOption, gateway, renderOption } from "./shared-options.ts";

/** `gwc graph`: draws a gateway, or the additions and removals of a change. */
export const graph: Command = {
  minPositionals: 0,
  maxPositionals: 2,
  details:
    "Shows listeners, their routes with policies and rules, and the servers behind them. With OLD and NEW, or --git BASE, " +
    "additions are green, removals red and changed settings yellow; `gwc diff` reports their effect. " +
    "FILE may also be the manifest.json of a bundle.",
  options: [
    fileOption,
    { name: "git", value: "BASE", summary: "show what changed since a git revision: main, HEAD~1" },
    renderOption,
    {
      name: "format",
      value: "FORMAT",
      choices: ["mermaid", "svg"],
      summary: "output format; GitHub renders mermaid (default: mermaid)",
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
  const [one, other] = sides;
  if (one === undefined) throw new Error("there is nothing to draw");
  const gatewayName = given.options.gateway;
  const read: readonly ReadSide[] =
    other === undefined
      ? [readSide(one, gatewayName, context)]
      : readSides([one, other], gatewayName, context);
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

/** Returns one side to draw, or the old and the new side to compare. */
function drawnSides(given: Arguments, context: CommandContext): readonly Side[] | CommandResult {
  const { positionals, options } = given;
  if (options.git !== undefined || options.render !== undefined || positionals.length === 2)
    return comparedSides(given, context, "graph");
  const input = commandInput(positionals, context.host, "gwc graph FILE");
  if (input.kind === "none") return input.result;
  return input.files.map((file) => ({ name: "the configuration", file, host: context.host }));
}
