import { readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";

/** Result of the measurement of one release. */
export interface MeasuredRelease {
  readonly release: string;
  /** Standalone files of its examples. */
  readonly examples: MeasuredPart;
  /** Manifests of its tests that state conditions. */
  readonly manifests: MeasuredPart;
}

/** Results of the measurement. */
export interface Measurement {
  readonly releases: readonly MeasuredRelease[];
  /** Standalone snippets of the documentation. */
  readonly snippets: MeasuredPart;
}

/** Files of one kind, and those that are refused or differ. */
export interface MeasuredPart {
  readonly total: number;
  readonly different: readonly string[];
}

/** Why files are refused or differ, by their names. */
interface Reasons {
  readonly examples: Readonly<Record<string, string>>;
  readonly manifests: Readonly<Record<string, string>>;
  readonly snippets: Readonly<Record<string, string>>;
}

const folder = import.meta.dirname;
/** File with the results of `measure.ts --write`. */
export const MEASURED_FILE = path.join(folder, "measured.json");

/** Returns the results of the last measurement. */
export function lastMeasurement(): Measurement {
  return JSON.parse(readFileSync(MEASURED_FILE, "utf8"));
}

/** Returns the reasons of all differences. */
export function reasons(): Reasons {
  return parse(readFileSync(path.join(folder, "reasons.yaml"), "utf8"));
}

/** Returns the document about compatibility: its prose, with tables of what was measured. */
export function compatibilityPage(): string {
  const { releases, snippets: measuredSnippets } = lastMeasurement();
  const { examples, manifests, snippets } = reasons();
  const tables: Readonly<Record<string, string>> = {
    measured: table(
      ["agentgateway", "standalone examples accepted", "manifests with the same conditions"],
      releases.map((each) => [each.release, share(each.examples), share(each.manifests)]),
    ),
    examples: table(["file", "reason"], rows(examples)),
    manifests: table(["manifest", "reason"], rows(manifests)),
    snippetShare: share(measuredSnippets),
    snippets: table(["document and line", "reason"], rows(snippets)),
  };
  const prose = readFileSync(path.join(folder, "page.md"), "utf8");
  return prose.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => tables[name] ?? "");
}

function share({ total, different }: MeasuredPart): string {
  return `${total - different.length} of ${total}`;
}

function rows(reasonOf: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  return Object.entries(reasonOf);
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...body].map((row) => `| ${row.join(" | ")} |`).join("\n");
}
