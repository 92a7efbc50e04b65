import { pathToFileURL } from "node:url";
import { type CodeAction, CodeActionKind, type Range } from "vscode-languageserver";
import { isScalar } from "yaml";
import { childrenOf, type Node } from "../cel/parse/ast.ts";
import { parseExpression } from "../cel/parse/parse.ts";
import { Problems } from "../cel/parse/problems.ts";
import { replacementIn } from "../diagnostics/messages/message.ts";
import type { Finding } from "../diagnostics/report/findings.ts";
import type { Location } from "../diagnostics/source.ts";
import { expressionAt } from "./cel-position.ts";
import { type DocumentContext, rangeIn } from "./document-context.ts";
import { editorDiagnostic } from "./editor-diagnostics.ts";
import { nodeAt } from "./node-at.ts";
import { routesWithRule } from "./ruled-routes.ts";
import { COMMANDS } from "./tool-access.ts";

/** Maximum number of findings of a range whose corrections are tried. */
const MAX_TRIED = 10;

/** Returns the corrections that hints in a range say to write, and that a rule there may get a test. */
export function codeActions(context: DocumentContext, range: Range): readonly CodeAction[] {
  return [...corrections(context, range), ...ruleActions(context, range)];
}

/** Each correction was tried: with it, there are fewer findings. */
function corrections(context: DocumentContext, range: Range): readonly CodeAction[] {
  const { document, path, project } = context;
  const [from, to] = [document.offsetAt(range.start), document.offsetAt(range.end)];
  const findings = project?.findings ?? [];
  const here = findings.filter(
    ({ location }) => location.path === path && location.start <= to && from <= location.end,
  );
  return here.slice(0, MAX_TRIED).flatMap((finding) => correction(finding, context) ?? []);
}

/** The test itself is found when it is wanted: that can take a second. */
function ruleActions(context: DocumentContext, range: Range): readonly CodeAction[] {
  const { document, path, project } = context;
  const offset = document.offsetAt(range.start);
  const text = expressionAt(context, offset)?.text;
  if (text === undefined || routesWithRule(project, text).length === 0) return [];
  const title = "Add a test of this rule";
  const command = { title, command: COMMANDS.addTest, arguments: [path, offset] };
  return [{ title, kind: CodeActionKind.Refactor, command }];
}

function correction(finding: Finding, context: DocumentContext): CodeAction | undefined {
  const text = finding.hint === undefined ? undefined : replacementIn(finding.hint);
  if (text === undefined) return undefined;
  const { document, path, project } = context;
  const before = document.getText();
  const count = project?.findings.length ?? 0;
  for (const [start, end] of candidates(finding, context)) {
    const newText = inStyleOf(text, start, end, context);
    const after = before.slice(0, start) + newText + before.slice(end);
    if ((project?.findingsWith(path, after) ?? []).length >= count) continue;
    const edit = { range: rangeIn(document, start, end), newText };
    return {
      title: `Write ${text}`,
      kind: CodeActionKind.QuickFix,
      isPreferred: true,
      diagnostics: [editorDiagnostic(finding)],
      edit: { changes: { [pathToFileURL(path).href]: [edit] } },
    };
  }
  return undefined;
}

/** Offsets of a text that a correction replaces. */
type Replaced = readonly [start: number, end: number];

/** Returns the places that a correction may replace: that of the finding, and the words in it that its message quotes. */
function candidates({ location, message }: Finding, context: DocumentContext): readonly Replaced[] {
  const { start, end } = location;
  const text = context.document.getText().slice(start, end);
  const compared = comparisonOf(location, context);
  if (compared !== undefined) return compared;
  const quoted = [...message.matchAll(/"([^"]+)"/g)].map(([, word = ""]) => word).toReversed();
  const words = quoted.flatMap((word): readonly Replaced[] => {
    const at = text.lastIndexOf(word);
    return at < 0 ? [] : [[start + at, start + at + word.length]];
  });
  return [[start, end], ...words];
}

/**
 * Returns the comparison whose literal is at a place, or none if its correction would mean something else: hints replace
 * `==`, not its negation. `undefined` if there is no literal that is compared with something.
 */
function comparisonOf(
  { start, end }: Location,
  context: DocumentContext,
): readonly Replaced[] | undefined {
  const expression = expressionAt(context, start);
  const root = expression && parseExpression(expression.text, new Problems());
  if (expression === undefined || root === undefined) return undefined;
  const isHere = (node: Node): boolean => {
    const [from, to] = expression.rangeOf(...node.span);
    return node.kind === "literal" && from === start && to === end;
  };
  const call = allNodes(root).find((node) => node.kind === "call" && node.args.some(isHere));
  if (call?.kind !== "call") return undefined;
  const word = context.document
    .getText()
    .slice(start, end)
    .replace(/^["']|["']$/g, "");
  const inside: Replaced = [start + 1, start + 1 + word.length];
  return call.name === "==" ? [inside, expression.rangeOf(...call.span)] : [inside];
}

function allNodes(node: Node): readonly Node[] {
  return [node, ...childrenOf(node).flatMap(allNodes)];
}

/** Writes a text as the scalar around it does: with its quotes doubled or escaped. */
function inStyleOf(text: string, start: number, end: number, { source }: DocumentContext): string {
  const node = nodeAt(source, start)?.node;
  if (!isScalar(node) || node.range === null || node.range === undefined) return text;
  const isWhole = node.range[0] === start && node.range[1] === end;
  if (isWhole) return /^[\w$./-]+$/.test(text) ? text : `'${text.replaceAll("'", "''")}'`;
  if (node.type === "QUOTE_SINGLE") return text.replaceAll("'", "''");
  return node.type === "QUOTE_DOUBLE" ? JSON.stringify(text).slice(1, -1) : text;
}
