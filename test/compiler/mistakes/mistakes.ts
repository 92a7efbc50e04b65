import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import type { Finding } from "../../../compiler/diagnostics/report/findings.ts";
import { textReport } from "../../../compiler/diagnostics/report/text.ts";
import { memoryHost } from "../../../compiler/host.ts";
import { checkInput } from "../../../compiler/inspect/check-input.ts";
import { markdownDocument } from "../../../compiler/inspect/reference/documents.ts";
import { heading, type Page, paragraph } from "../../../compiler/inspect/reference/page.ts";

/** Mistakes of one kind, as a file next to this one contains them. */
interface MistakeGroup {
  readonly title: string;
  readonly text: string;
  /** A configuration in which the line `HERE` stands for the text of a mistake. */
  readonly frame?: string;
  readonly mistakes: readonly GivenMistake[];
}

interface GivenMistake {
  readonly title: string;
  /** Code of the diagnostic that reports it. */
  readonly code: string;
  /** The lines that replace `HERE`. */
  readonly text?: string;
  /** The whole file, and what it is called. */
  readonly file?: string;
  readonly name?: string;
}

/** A mistake that people make, and what gwc says of it. */
export interface Mistake {
  readonly title: string;
  readonly code: string;
  /** The lines with the mistake. */
  readonly shown: string;
  readonly findings: readonly Finding[];
}

/** The mistakes of each group, with its title and what is said of it. */
export function mistakeGroups(): readonly (Omit<MistakeGroup, "mistakes" | "frame"> & {
  readonly mistakes: readonly Mistake[];
})[] {
  const files = globSync("*.yaml", { cwd: import.meta.dirname }).sort();
  return files.map((file) => {
    const group: MistakeGroup = parse(readFileSync(path.join(import.meta.dirname, file), "utf8"));
    const mistakes = group.mistakes.map((given) => checked(given, group.frame ?? ""));
    return { title: group.title, text: group.text, mistakes };
  });
}

function checked(
  { title, code, text = "", file, name = "gateway.yaml" }: GivenMistake,
  frame: string,
): Mistake {
  const indent = /^( *)HERE$/m.exec(frame)?.[1] ?? "";
  const lines = text.replace(/^(?=.)/gm, indent);
  // a function, for the text may have dollar signs
  const whole = file ?? frame.replace(/^ *HERE\n/m, () => lines);
  const { findings } = checkInput([name], memoryHost({ [name]: whole }), false);
  return { title, code, shown: file ?? text, findings };
}

/** The page of mistakes: the lines of each, and what `gwc check` prints. */
export function mistakesDocument(): string {
  const introduction: Page = {
    title: "Mistakes and their diagnostics",
    parts: [
      paragraph(
        "Configurations as people write them at first, and what `gwc check` prints. Line numbers are those of whole files; " +
          "where only some lines are shown, the others are a plain gateway around them. `gwc build` and `gwc run` print the " +
          "same, and `gwc explain CODE` explains a code.",
      ),
    ],
  };
  const groups = mistakeGroups().map(
    ({ title, text, mistakes }): Page => ({
      title,
      parts: [paragraph(text), ...mistakes.flatMap(mistakeParts)],
    }),
  );
  return markdownDocument([introduction, ...groups]);
}

function mistakeParts({ title, shown, findings }: Mistake): Page["parts"] {
  const report = textReport(findings, false).replace(/\n\d+ (error|warning)s?\n$/, "");
  return [
    heading(title),
    { kind: "example", language: "yaml", text: shown },
    { kind: "example", language: "text", text: report },
  ];
}
