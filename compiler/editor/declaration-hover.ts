import path from "node:path";
import { isCollection, isMap, isNode } from "yaml";
import type { DocumentContext } from "./document-context.ts";
import type { NameUse } from "./names.ts";
import { declarationsAt } from "./navigation.ts";

/** Maximum number of lines of a declaration. */
const MAX_LINES = 20;
/** Kinds of manifests of which only the keys of their data are shown. */
const KEYS_ONLY: ReadonlySet<string> = new Set(["Secret", "ConfigMap"]);

/** Returns the declarations of the name at an offset as Markdown, if the name is a reference to them. */
export function declarationTexts(context: DocumentContext, offset: number): readonly string[] {
  return declarationsAt(context, offset).flatMap((declaration) => {
    const { file, start, kind, name } = declaration;
    const text = declaredText(declaration);
    if (text === undefined) return [];
    const line = file.text.slice(0, start).split("\n").length;
    const title = `**${kind} \`${name}\`**, declared at ${path.basename(file.path)}:${line}`;
    return [`${title}\n\n\`\`\`yaml\n${text}\n\`\`\``];
  });
}

/** Returns the text of what a declaration declares: its value, the object with its name, or the `spec` of a manifest. */
function declaredText({ file, document, path: place, kind }: NameUse): string | undefined {
  const yaml = file.documents[document]?.yaml;
  const nodeOf = (at: readonly (string | number)[]) => {
    const found: unknown = yaml?.getIn(at, true);
    return isNode(found) ? found : undefined;
  };
  const isManifest = place.slice(-2).join(".") === "metadata.name";
  const base = place.slice(0, -2);
  if (isManifest && KEYS_ONLY.has(kind)) return keysOf(nodeOf([...base, "data"]));
  const own = nodeOf(isManifest ? [...base, "spec"] : place);
  const node = isCollection(own) || isManifest ? own : nodeOf(place.slice(0, -1));
  const [start, end] = node?.range ?? [];
  if (start === undefined || end === undefined) return undefined;
  return dedented(file.text, start, end);
}

function keysOf(data: unknown): string | undefined {
  if (!isMap(data)) return undefined;
  return `data: # ${data.items.map(({ key }) => String(key)).join(", ")}`;
}

/** Returns lines of a text without the indent of the first one. */
function dedented(text: string, start: number, end: number): string {
  const indent = start - (text.lastIndexOf("\n", start - 1) + 1);
  const margin = new RegExp(`^ {1,${Math.max(1, indent)}}`);
  const [first = "", ...others] = text.slice(start, end).trimEnd().split("\n");
  const lines = [first, ...others.map((line) => line.replace(margin, ""))];
  return lines.length <= MAX_LINES
    ? lines.join("\n")
    : [...lines.slice(0, MAX_LINES), "# …"].join("\n");
}
