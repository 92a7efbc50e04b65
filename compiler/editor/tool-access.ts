import path from "node:path";
import {
  type CodeLens,
  type Command,
  type InlayHint,
  InlayHintKind,
  type Position,
} from "vscode-languageserver";
import { isTestFile } from "../1-parse/input-files.ts";
import { toolLockOf } from "../3-resolve/tool-locks.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import { type Location, locate } from "../diagnostics/source.ts";
import { whoText } from "../inspect/access/access-text.ts";
import { ANYONE, itemAccess } from "../inspect/access/item-access.ts";
import { accessOf } from "../ir/access.ts";
import { servedTargets } from "../ir/backend-text.ts";
import type { Program, RouteNode } from "../ir/program.ts";
import { servedRoutes } from "../ir/routes.ts";
import { type DocumentContext, filesBeside } from "./document-context.ts";
import { offeredIn } from "./seen-names.ts";

/** Commands of the server. */
export const COMMANDS = {
  who: "gwc.whoCanCall",
  tests: "gwc.runTests",
  generated: "gwc.generatedCode",
  overview: "gwc.overview",
  addTest: "gwc.addTest",
} as const;

/** Maximum number of tools that a hint counts: each is a question to the rules. */
const MAX_TOOLS = 500;

/** A tool of a route. */
interface RouteTool {
  readonly target: string;
  readonly name: string;
}

/** Returns how many of the known tools each policy of rules for MCP lets callers use: `allows 3 of 79 tools`. */
export function toolHints(context: DocumentContext): readonly InlayHint[] {
  const { project } = context;
  return (project?.checked.programs ?? []).flatMap((program) =>
    servedRoutes(program).flatMap(({ route }) => {
      const place = rulesPlace(route);
      const position = place && positionOf(place, "end", context);
      const tools = toolsOf(route, context.tests());
      if (position === undefined || tools.length === 0) return [];
      const callable = tools.filter((tool) => isCallable(tool, program, route)).length;
      const label = `allows ${callable} of ${tools.length} tools`;
      return [{ position, label, kind: InlayHintKind.Parameter, paddingLeft: true }];
    }),
  );
}

/** Returns the lenses of a document: the questions about a route, and the tests of a test file. */
export function lensesOf(context: DocumentContext): readonly CodeLens[] {
  if (isTestFile(context.path)) {
    const command = { title: "run tests", command: COMMANDS.tests, arguments: [context.path] };
    const start = { line: 0, character: 0 };
    return [{ range: { start, end: start }, command }];
  }
  return (context.project?.checked.programs ?? []).flatMap((program) =>
    servedRoutes(program).flatMap(({ route }) => {
      const position = positionOf(route.origin, "start", context);
      if (position === undefined) return [];
      const given = [context.path, route.id];
      const commands: readonly Command[] = [
        ...(rulesPlace(route) === undefined
          ? []
          : [{ title: "who can call", command: COMMANDS.who, arguments: given }]),
        { title: "open generated code", command: COMMANDS.generated, arguments: given },
      ];
      return commands.map((command) => ({ range: { start: position, end: position }, command }));
    }),
  );
}

/** Returns who may call the known tools of a route, as `gwc can --who` prints it. */
export function whoCanCall(id: string, context: DocumentContext): string {
  const programs = context.project?.checked.programs ?? [];
  const files = filesBeside(context);
  const texts = programs.flatMap((program) =>
    servedRoutes(program)
      .filter(({ route }) => route.id === id)
      .flatMap(({ route }) =>
        toolsOf(route, context.tests())
          .slice(0, MAX_TOOLS)
          .map(({ name, target }) => {
            const item = { kind: "tool", name, target } as const;
            return whoText(`tool ${name}`, itemAccess(program, item, ANYONE, route.id), files);
          }),
      ),
  );
  return texts.length === 0
    ? "no tools are known: record them with `gwc lock`, or list them under `servers` of a test file\n"
    : texts.join("\n");
}

/** Returns the tools of a route: those of its locks, and those that tests give its servers. */
function toolsOf(
  { backends }: RouteNode,
  tests: ReturnType<DocumentContext["tests"]>,
): readonly RouteTool[] {
  const found = backends.flatMap((node) => {
    const locked = toolLockOf(node)?.targets ?? [];
    const targets = servedTargets(node);
    return [
      ...locked.flatMap(({ name: target, items }) =>
        items.flatMap(({ list, name }) => (list === "tools" ? { target, name } : [])),
      ),
      ...targets.flatMap((target) =>
        tests.flatMap((file) => offeredIn(file, "tools", target)).map((name) => ({ target, name })),
      ),
    ];
  });
  return [...new Map(found.map((each) => [`${each.target} ${each.name}`, each])).values()].slice(
    0,
    MAX_TOOLS,
  );
}

function isCallable({ name, target }: RouteTool, program: Program, route: RouteNode): boolean {
  const found = itemAccess(program, { kind: "tool", name, target }, ANYONE, route.id);
  return found.some(({ verdicts }) => verdicts.every(({ verdict }) => verdict !== "refuses"));
}

/** Returns the place of the first policy with rules about MCP items. */
function rulesPlace({ policies, backends }: RouteNode): Origin | undefined {
  const all = [...policies, ...backends.flatMap(({ ownPolicies = [] }) => ownPolicies)];
  const found = all.find((use) =>
    accessOf(use).some((check) => check.kind === "rules" && check.phase === "mcp"),
  );
  return found?.origin;
}

/** Returns the position of a place in the document; `undefined` if it is in another file. */
function positionOf(
  origin: Origin,
  side: "start" | "end",
  { path: file, document, project }: DocumentContext,
): Position | undefined {
  const files = project?.checked.files ?? [];
  const found: Location = locate({ ...origin, part: "key" }, files);
  if (path.resolve(found.path) !== file) return undefined;
  // The colon after the key belongs to it.
  return document.positionAt(side === "start" ? found.start : found.end + 1);
}
