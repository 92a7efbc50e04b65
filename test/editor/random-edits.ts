import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import type { Diagnostic } from "vscode-languageserver-protocol";
import { isTestFile } from "../../compiler/1-parse/input-files.ts";
import { Diagnostics } from "../../compiler/diagnostics/diagnostic.ts";
import { findingsOf } from "../../compiler/diagnostics/report/findings.ts";
import { editorDiagnostic } from "../../compiler/editor/editor-diagnostics.ts";
import { realHost } from "../../compiler/host.ts";
import { readTests } from "../../compiler/inspect/tests/read-tests.ts";
import { Editor } from "../harness/editor.ts";
import { gwc } from "../harness/gwc.ts";

/** Number of edits between two comparisons. */
const STEP = 10;

/** Texts that someone types and pastes. */
const WORDS = [
  ...[
    "\n",
    "  ",
    " ",
    ":",
    "- ",
    "#",
    '"',
    "'",
    "{",
    "}",
    "[",
    "]",
    "|\n",
    "&a ",
    "*a",
    "---\n",
    "é",
    "😀",
  ],
  ...[
    "port: 3000\n",
    "name: x\n",
    "mcp.tool.name",
    " && ",
    "jwt.",
    "${HOME}",
    "null",
    "70000",
    "true",
  ],
];

/** Positions are shares of the length, so that they fit every text. */
const edit = fc.oneof(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.integer({ min: 0, max: 12 }),
    word: fc.constantFrom("", ...WORDS),
  }),
  // Puts a word of the file in place of another: the text mostly remains valid YAML, and means something else.
  fc.record({
    from: fc.double({ min: 0, max: 1, noNaN: true }),
    to: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  // Takes everything back: the next edits begin with a valid file again.
  fc.constant("restore" as const),
);

type Edit = typeof edit extends fc.Arbitrary<infer Value> ? Value : never;

/** Applies an edit to an open document. */
async function apply(change: Edit, name: string, valid: string, editor: Editor): Promise<void> {
  if (change === "restore") return editor.change(name, valid);
  const text = editor.text(name);
  if ("word" in change) {
    const at = Math.floor(change.at * text.length);
    return editor.edit(name, at, Math.min(text.length, at + change.length), change.word);
  }
  const words = [...text.matchAll(/[\w.-]+/g)];
  const [old, other] = [change.from, change.to].map(
    (share) => words[Math.min(words.length - 1, Math.floor(share * words.length))],
  );
  if (old === undefined || other === undefined) return;
  await editor.edit(name, old.index, old.index + old[0].length, other[0]);
}

const PARTS = ["code", "severity", "message", "range"] as const;

function ofServer(found: readonly Diagnostic[]): readonly string[] {
  return found.map((each) => JSON.stringify(PARTS.map((part) => each[part]))).toSorted();
}

const SEVERITIES = { error: 1, warning: 2, note: 3 } as const;

/** A diagnostic as `gwc check --format json` prints it. */
interface Printed {
  readonly code: string;
  readonly severity: keyof typeof SEVERITIES;
  readonly message: string;
  readonly hint?: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

/** Diagnostics of a new `gwc check`, in the same form. */
async function ofCheck(input: string, file: string): Promise<readonly string[]> {
  const { stdout } = await gwc(["check", input, "--format", "json"]);
  const all: readonly Printed[] = JSON.parse(stdout).diagnostics;
  const lines = readFileSync(file, "utf8").split("\n");
  return all
    .filter((each) => each.file === file)
    .map(({ code, severity, message, hint, line, column, endLine, endColumn }) => {
      const isEmpty = line === endLine && column === endColumn;
      // An empty place is shown as the rest of its line.
      const character = isEmpty ? (lines[line - 1] ?? "").length : endColumn - 1;
      const range = {
        start: { line: line - 1, character: column - 1 },
        end: { line: endLine - 1, character },
      };
      const words = hint === undefined ? message : `${message}\nhint: ${hint}`;
      return JSON.stringify([code, SEVERITIES[severity], words, range]);
    })
    .toSorted();
}

/** Diagnostics of a test file that is read anew, in the same form. */
function ofTests(file: string): readonly string[] {
  const diagnostics = new Diagnostics();
  const { files } = readTests([file], realHost({}), diagnostics);
  return ofServer(findingsOf(diagnostics.list, files, false).map(editorDiagnostic));
}

/** Whether a document gets diagnostics: a key set is only read by the configuration. */
function isOfGwc(name: string): boolean {
  return name.endsWith(".yaml");
}

/** Edits open files, of which some belong to `input`, and compares the diagnostics of all with those of a cold check. */
export async function compareWhileEditing(
  inputs: Readonly<Record<string, string>>,
  input: string,
  seed: number,
  count: number,
): Promise<void> {
  const editor = await Editor.start(inputs);
  const names = Object.keys(inputs);
  for (const [name, text] of Object.entries(inputs)) await editor.open(name, text);
  const edits = fc.sample(fc.tuple(fc.constantFrom(...names), edit, fc.boolean()), {
    numRuns: count,
    seed,
  });
  for (const [index, [name, change, isWaiting]] of edits.entries()) {
    await apply(change, name, inputs[name] ?? "", editor);
    // Results of this text are cached for the next.
    if (isWaiting && isOfGwc(name)) await editor.diagnostics(name);
    if ((index + 1) % STEP > 0) continue;
    for (const each of names) {
      const file = editor.workspace.path(each);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, editor.text(each));
      // A new version of the same text, so that its diagnostics follow every edit of the others.
      await editor.change(each, editor.text(each));
    }
    for (const each of names.filter(isOfGwc)) {
      const file = editor.workspace.path(each);
      const found = ofServer(await editor.diagnostics(each));
      const wanted = isTestFile(each)
        ? ofTests(file)
        : await ofCheck(editor.workspace.path(input), file);
      expect(found, `edit ${index} of seed ${seed}, ${each}`).toEqual(wanted);
    }
  }
}
