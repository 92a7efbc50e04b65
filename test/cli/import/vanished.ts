import { readFileSync } from "node:fs";
import { memoryHost } from "../../../compiler/host.ts";
import { formatOf, importers } from "../../../compiler/import/formats.ts";
import { importedText } from "../../../compiler/import/imported-text.ts";

/** Configurations of other gateways that use most of what imports read. */
export const sources = [
  ...["nginx.conf", "stream.conf", "Caddyfile", "traefik.yaml", "kong.yaml", "litellm.yaml"],
  "envoy-ai-gateway.yaml",
];

/** Returns the imported file; the reason if that is impossible. */
export function converted(file: string, text: string): string {
  const files = [{ file, text }];
  const format = formatOf(files);
  if (format === "agentgateway") return "unknown format";
  const read = importers[format](files, memoryHost({ [file]: text }));
  return typeof read === "string" ? read : importedText(file, read);
}

/** Fields that identify a document, or what it refers to, without being a setting. */
const NAMING = /^\s*(?:- )?(?:apiVersion|kind|group|name|namespace|_format_version|_transform):/;

/** Whether a line is a directive or a field with a value, that can be left out alone. */
export function isSetting(line: string): boolean {
  const isBlock = /[{]\s*$/.test(line) || /^\s*\}?\s*$|^---|:\s*$/.test(line);
  return !isBlock && !NAMING.test(line);
}

/** Leaves out a line; the other lines keep their numbers, and lists of YAML their items. */
function without(lines: readonly string[], index: number): string {
  const line = lines[index] ?? "";
  const isItem = /^\s*- /.test(line);
  const instead = isItem ? line.replace(/- .*/, /- \w+: /.test(line) ? "- zzz: 1" : "- zzz") : "";
  return lines.with(index, instead).join("\n");
}

/** The settings without which the imported file is the same. */
export function vanished(file: string, text: string): readonly string[] {
  const whole = converted(file, text);
  // Without what the file needs, it is refused.
  if (!whole.startsWith("# Imported")) return [];
  const lines = text.split("\n");
  return lines.flatMap((line, index) =>
    isSetting(line) &&
    // A line that the file names at its top would be missing there.
    !whole.includes(`line ${index + 1}: `) &&
    converted(file, without(lines, index)) === whole
      ? [`${index + 1}: ${line.trim()}`]
      : [],
  );
}

/** Returns the text of one of the sources. */
export function sourceText(name: string): string {
  return readFileSync(new URL(`sources/${name}`, import.meta.url), "utf8");
}
