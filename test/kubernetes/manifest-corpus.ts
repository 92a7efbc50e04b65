import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { root } from "../harness/root.ts";

/** A manifest as it is written somewhere. */
export interface WrittenManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata?: { readonly name?: string };
}

/** The manifests of each file of the examples, guides and tests that has some, by the file. */
export function writtenManifests(): ReadonlyMap<string, readonly WrittenManifest[]> {
  const files = globSync(
    ["examples/**/*.yaml", ".github/guides/*.md", "test/**/*.{yaml,ts}", "README.md"],
    { cwd: root },
  ).sort();
  const found = files.map((file) => {
    const text = readFileSync(path.join(root, file), "utf8");
    return [file, manifestsIn(text)] as const;
  });
  return new Map(found.filter(([, manifests]) => manifests.length > 0));
}

/** The documents of a text: whole ones, those between fences or backticks, and mappings in braces. */
function manifestsIn(text: string): readonly WrittenManifest[] {
  // A test's placeholders are names or numbers.
  const filled = text.replace(/\$\{[^{}]*\}/g, "8080");
  const blocks = filled.split(/^\s*---\s*$|`|^"/m).filter((each) => /^apiVersion:/m.test(each));
  const whole = blocks.map((each) => each.slice(each.search(/^apiVersion:/m)));
  return [...whole, ...mappingsIn(filled)].flatMap(parsed);
}

/** `{apiVersion: ...}` up to the brace that closes it. */
function* mappingsIn(text: string): Generator<string> {
  for (const { index } of text.matchAll(/\{apiVersion:/g)) {
    let depth = 0;
    for (let end = index; end < Math.min(text.length, index + 20_000); end++) {
      if (text[end] === "{") depth += 1;
      if (text[end] === "}") depth -= 1;
      if (depth > 0) continue;
      yield text.slice(index, end + 1);
      break;
    }
  }
}

function parsed(text: string): readonly WrittenManifest[] {
  return parseAllDocuments(text).flatMap((document) => {
    if (!("errors" in document) || document.errors.length > 0) return [];
    const value: unknown = document.toJS();
    return isManifest(value) ? [value] : [];
  });
}

/** Whether a value says that it is a manifest. */
export function isManifest(value: unknown): value is WrittenManifest {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind } = value as Partial<WrittenManifest>;
  return typeof apiVersion === "string" && typeof kind === "string";
}
