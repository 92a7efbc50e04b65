import { whoText } from "../inspect/access/access-text.ts";
import { ANYONE, itemAccess } from "../inspect/access/item-access.ts";
import { toolsNamedIn } from "./cel-mcp-names.ts";
import type { ExpressionPosition } from "./cel-position.ts";
import { type DocumentContext, filesBeside } from "./document-context.ts";
import { routesWithRule } from "./ruled-routes.ts";

/** Maximum number of routes of a hover. */
const MAX_ROUTES = 3;

/** Returns who may call the tool that a rule names at an offset, as `gwc can --who` prints it, in Markdown. */
export function toolTexts(
  { text, offset }: ExpressionPosition,
  context: DocumentContext,
): readonly string[] {
  const named = toolsNamedIn(text).find(({ start, end }) => start <= offset && offset <= end);
  if (named === undefined) return [];
  const item = { kind: "tool", name: named.name, target: undefined } as const;
  // A route of several listeners is one entry for each.
  const routes = new Map(routesWithRule(context.project, text).map((each) => [each.route, each]));
  return [...routes.values()].slice(0, MAX_ROUTES).map(({ program, route }) => {
    const access = itemAccess(program, item, ANYONE, route.id);
    const who = whoText(`tool ${named.name}`, access, filesBeside(context));
    return `\`\`\`text\n${who.trimEnd()}\n\`\`\``;
  });
}
