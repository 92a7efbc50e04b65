import type { Host } from "../../host.ts";
import type { Json } from "../../model/json.ts";
import { declarationOf, HOOKS, type PolicyDeclaration } from "../../policies/custom/declaration.ts";
import { typescript } from "../../policies/custom/typescript.ts";
import { type Page, type Part, paragraph, table } from "./page.ts";

/** Returns the page of a custom policy from its module, or why there is none. */
export function policyModulePage(file: string, host: Host): Page | string {
  const found = host.readText(file);
  if (found.kind !== "text") return `"${file}" cannot be read: ${found.problem}`;
  const { ts } = typescript();
  const source = ts.createSourceFile(file, found.text, ts.ScriptTarget.ESNext, true);
  const declared = declarationOf(source, ts);
  if ("message" in declared) return `${file}: ${declared.message}`;
  const { summary, isIdentity, options, provides, hooks } = declared;
  return {
    title: file.replace(/^(?:.*[\\/])?policies[\\/]|^.*[\\/]/, "").replace(/\.ts$/, ""),
    parts: [
      ...(summary === "" ? [] : [paragraph(summary)]),
      paragraph(
        `Runs in: ${hooksText(hooks)}.${isIdentity ? " It authenticates callers, so it admits nobody without an identity." : ""}`,
      ),
      ...rowsOf("option", optionRows(options)),
      ...rowsOf("value", valueRows(provides)),
    ],
  };
}

function hooksText(hooks: PolicyDeclaration["hooks"]): string {
  const own = HOOKS.filter((hook) => hooks[hook] !== undefined);
  return own.map((hook) => (hooks[hook]?.isAsync === true ? `${hook} (async)` : hook)).join(", ");
}

function rowsOf(name: string, rows: readonly (readonly string[])[]): readonly Part[] {
  return rows.length === 0 ? [] : table([name, "type", "description"], rows);
}

function optionRows(options: Json): readonly (readonly string[])[] {
  return Object.entries(options ?? {}).map(([name, option]) => {
    const { type, description, ...rest }: Readonly<Record<string, Json>> = Object(option);
    const facts = Object.entries(rest).map(([fact, value]) =>
      value === true ? fact : `${fact}: ${JSON.stringify(value)}`,
    );
    const words = [description, facts.join(", ")].filter(
      (each) => each !== undefined && each !== "",
    );
    return [`with.${name}`, String(type), words.join(" ")];
  });
}

function valueRows(provides: Json): readonly (readonly string[])[] {
  return Object.entries(provides ?? {}).map(([name, type]) => [
    `custom.${name}`,
    String(type),
    "Later rules read it.",
  ]);
}
