import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Diagnostic } from "vscode-languageserver-protocol";
import { Editor } from "../harness/editor.ts";
import { gwc } from "../harness/gwc.ts";
import { root } from "../harness/root.ts";

/** Number of edits of each input, and of edits between two comparisons. */
const EDITS = process.env.GWC_LONG_TESTS === "1" ? 1000 : 60;
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
  // Takes everything back: the next edits begin with a valid file again.
  fc.constant("restore" as const),
);

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

async function compareWhileEditing(inputs: Readonly<Record<string, string>>, seed: number) {
  const editor = await Editor.start(inputs);
  const names = Object.keys(inputs);
  const folder = editor.workspace.folder;
  const input = names.length === 1 ? path.join(folder, names[0] ?? "") : path.join(folder, "k8s");
  for (const [name, text] of Object.entries(inputs)) await editor.open(name, text);
  const edits = fc.sample(fc.tuple(fc.constantFrom(...names), edit), { numRuns: EDITS, seed });
  for (const [index, [name, change]] of edits.entries()) {
    const text = editor.text(name);
    if (change === "restore") await editor.change(name, inputs[name] ?? "");
    else {
      const at = Math.floor(change.at * text.length);
      await editor.edit(name, at, Math.min(text.length, at + change.length), change.word);
    }
    if ((index + 1) % STEP > 0) continue;
    for (const each of names) {
      const file = editor.workspace.path(each);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, editor.text(each));
    }
    for (const each of names) {
      const found = ofServer(await editor.diagnostics(each));
      const wanted = await ofCheck(input, editor.workspace.path(each));
      expect(found, `edit ${index} of seed ${seed}, ${each}`).toEqual(wanted);
    }
  }
}

const example = (name: string) => readFileSync(path.join(root, "examples", name), "utf8");

it(`after ${EDITS} random edits of a file, the server shows what a new gwc check reports`, async () => {
  const text = example("authorization/gateway.yaml");
  await compareWhileEditing({ "gateway.yaml": text }, 1);
}, 600_000);

it(`after ${EDITS} random edits of manifests, the server shows what a new gwc check reports`, async () => {
  const [proxy = "", route = "", ...others] = example("cluster-mcp/gateway.yaml").split("---\n");
  const inputs = {
    "k8s/gateway.yaml": proxy,
    "k8s/route.yaml": route,
    "k8s/others.yaml": others.join("---\n"),
  };
  await compareWhileEditing(inputs, 2);
}, 600_000);
