import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { gwc } from "../harness/gwc.ts";
import { program } from "../harness/tool.ts";
import { Workspace } from "../harness/workspace.ts";

async function script(shell: string): Promise<string> {
  const { code, stdout } = await gwc(["completion", shell]);
  expect(code).toBe(0);
  return new Workspace({ script: stdout }).path("script");
}

/** Returns what a shell proposes for the last word of a command line, sorted. */
type Proposals = (line: string) => readonly string[];

async function inBash(): Promise<Proposals> {
  const file = await script("bash");
  return (line) => {
    const words = line.split(" ");
    const text = `source "$1"; COMP_WORDS=("\${@:2}"); COMP_CWORD=$(( $# - 2 )); _gwc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return lines(execFileSync(program("bash"), ["-c", text, "bash", file, ...words]));
  };
}

async function inFish(): Promise<Proposals> {
  const file = await script("fish");
  return (line) => {
    const text = "source $argv[1]; complete --do-complete $argv[2] | string split --fields 1 \\t";
    return lines(execFileSync(program("fish"), ["--no-config", "-c", text, file, line]));
  };
}

function lines(output: Buffer): readonly string[] {
  return output.toString().split("\n").filter(Boolean).toSorted();
}

it.each([
  ["bash", inBash],
  ["fish", inFish],
])("%s completes commands, options and their values", async (_shell, start) => {
  const proposed = await start();
  expect(proposed("gwc ver")).toEqual(["verify", "version"]);
  expect(proposed("gwc check --form")).toEqual(["--format"]);
  expect(proposed("gwc check --format j")).toEqual(["json", "junit"]);
  expect(proposed("gwc diff --exit")).toEqual(["--exit-code"]);
});

it("zsh completes commands, options and their values", async () => {
  const file = await script("zsh");
  // compadd and _arguments report what they would propose.
  const text = `
    autoload -Uz compinit; compinit -D -u; source "$1"
    _arguments() { print -l -- "$@" }
    _describe() { print -l -- "\${(@P)2}" }
    words=("\${@:2}"); CURRENT=$#words; _gwc`;
  const proposed = (...words: string[]) =>
    lines(execFileSync(program("zsh"), ["-f", "-c", text, "zsh", file, "gwc", ...words]));
  expect(proposed("")).toContain(
    "verify:verify that a bundle is byte for byte what a configuration builds",
  );
  expect(proposed("check", "--")).toContain(
    "--format[output format (default: text)]:FORMAT:(text json sarif github junit)",
  );
});

it("another shell is refused with the list", async () => {
  const { code, stderr } = await gwc(["completion", "tcsh"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: 'error: there is no completion for "tcsh"\nhint: shells: bash, zsh, fish\n',
  });
});
