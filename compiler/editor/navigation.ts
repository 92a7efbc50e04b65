import path from "node:path";
import { pathToFileURL } from "node:url";
import type { DocumentLink, Location, Range, WorkspaceEdit } from "vscode-languageserver";
import { TextDocument } from "vscode-languageserver-textdocument";
import { isScalar } from "yaml";
import type { SourceFile } from "../diagnostics/source.ts";
import { type DocumentContext, placedNode, rangeIn } from "./document-context.ts";
import type { NameUse } from "./names.ts";
import { visitScalars } from "./node-at.ts";

/** Returns the declarations of the name at an offset, or the file that is named there. */
export function definitionsAt(context: DocumentContext, offset: number): readonly Location[] {
  const use = useAt(context, offset);
  if (use === undefined) return fileAt(context, offset);
  return usesOf(use, context).flatMap((each) => (each.isDeclaration ? locationOf(each) : []));
}

/** Returns the declarations of the name at an offset; none if it is a declaration itself. */
export function declarationsAt(context: DocumentContext, offset: number): readonly NameUse[] {
  const use = useAt(context, offset);
  if (use === undefined || use.isDeclaration) return [];
  return usesOf(use, context).filter(({ isDeclaration }) => isDeclaration);
}

/** Returns every use of the name at an offset. */
export function referencesAt(
  context: DocumentContext,
  offset: number,
  withDeclarations: boolean,
): readonly Location[] {
  const use = useAt(context, offset);
  if (use === undefined) return [];
  const found = usesOf(use, context);
  return found.filter((each) => withDeclarations || !each.isDeclaration).map(locationOf);
}

/** Returns the range of the name at an offset that can be renamed; `undefined` if there is none. */
export function renamedRange(context: DocumentContext, offset: number): Range | undefined {
  const use = useAt(context, offset);
  return use && rangeIn(context.document, use.start, use.end);
}

/** Characters of a name that needs no quotes, in whatever style the old one is written. */
const PLAIN_NAME = /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/;

/** Returns the edits that rename the name at an offset everywhere; a problem if the new name is not a name. */
export function renameAt(
  context: DocumentContext,
  offset: number,
  newName: string,
): WorkspaceEdit | { readonly problem: string } {
  if (!PLAIN_NAME.test(newName))
    return { problem: 'a name has letters, digits, "-", "." and "_" only' };
  const use = useAt(context, offset);
  if (use === undefined) return { problem: "there is no name here" };
  const all = usesOf(use, context);
  if (!all.some(({ isDeclaration }) => isDeclaration))
    return { problem: `${use.kind} "${use.name}" is not declared in this configuration` };
  const byUri = Map.groupBy(all, ({ file }) => pathToFileURL(file.path).href);
  const changes = [...byUri].map(([uri, uses]) => [
    uri,
    uses.map((each) => ({ range: locationOf(each).range, newText: newName })),
  ]);
  return { changes: Object.fromEntries(changes) };
}

/** Returns the names of files in a document as links. */
export function linksIn(context: DocumentContext): readonly DocumentLink[] {
  const links: DocumentLink[] = [];
  for (const { yaml } of context.source.documents)
    visitScalars(yaml.contents, [], ({ value, range }, _, part) => {
      const target = part === "value" ? readFileNamed(value, context) : undefined;
      if (target === undefined || range === null || range === undefined) return;
      links.push({
        range: rangeIn(context.document, range[0], range[1]),
        target: pathToFileURL(target).href,
      });
    });
  return links;
}

function fileAt(context: DocumentContext, offset: number): readonly Location[] {
  const found = placedNode(context, offset);
  if (found === undefined || !isScalar(found.at.node)) return [];
  const target = readFileNamed(found.at.node.value, context);
  if (target === undefined) return [];
  const start = { line: 0, character: 0 };
  return [{ uri: pathToFileURL(target).href, range: { start, end: start } }];
}

/** Returns the path of a file that the configuration reads under this name; `undefined` if it reads none. */
function readFileNamed(
  value: unknown,
  { path: file, project }: DocumentContext,
): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  const named = path.resolve(path.dirname(file), value);
  const read = project?.checked.dependencies ?? [];
  return named !== file && read.some((each) => path.resolve(each) === named) ? named : undefined;
}

/** Returns the use of a name at an offset; the innermost of several. */
function useAt({ path: file, names }: DocumentContext, offset: number): NameUse | undefined {
  const found = names().filter(
    (use) => use.file.path === file && use.start <= offset && offset <= use.end,
  );
  return found.toSorted((a, b) => a.end - a.start - (b.end - b.start))[0];
}

function usesOf({ kind, name }: NameUse, { names }: DocumentContext): readonly NameUse[] {
  return names().filter((each) => each.kind === kind && each.name === name);
}

function locationOf({ file, start, end }: NameUse): Location {
  return { uri: pathToFileURL(file.path).href, range: rangeIn(documentOf(file), start, end) };
}

function documentOf({ path: file, text }: SourceFile): TextDocument {
  return TextDocument.create(pathToFileURL(file).href, "yaml", 0, text);
}
