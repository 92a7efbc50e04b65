import { isUtf8 } from "node:buffer";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** What the compiler asks of the world around it: files, the environment, the clock. Nothing else comes in. */
export interface Host {
  /** The text of a file, or why it can't be had, as a person would say it; `-` is standard input. */
  readText(file: string): FileText;
  /** The YAML and JSON files below a folder, sorted; undefined when it is no folder. */
  filesIn(folder: string): readonly string[] | undefined;
  /** The names of what stands right in a folder, sorted; undefined when it is no folder. */
  namesIn(folder: string): readonly string[] | undefined;
  /** The value of an environment variable. */
  variable(name: string): string | undefined;
  /** The time, RFC 3339, to the second. */
  now(): string;
}

/** A file's text, or why it can't be had. */
export type FileText =
  | {
      readonly kind: "text";
      readonly text: string;
      /** Some of its bytes are no UTF-8, and U+FFFD stands in their place. */
      readonly isDamaged?: boolean;
    }
  | { readonly kind: "problem"; readonly problem: string };

const CONFIGURATION = /\.(ya?ml|json)$/i;

/** The machine itself: files relative to the working directory. */
export function realHost(environment: NodeJS.ProcessEnv): Host {
  return {
    readText(file) {
      try {
        if (file === "-") return fileText(readFileSync(0));
        if (statSync(file).isDirectory()) return { kind: "problem", problem: "it is a folder" };
        return fileText(readFileSync(file));
      } catch (error) {
        return { kind: "problem", problem: fileProblem(error) };
      }
    },
    filesIn(folder) {
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => CONFIGURATION.test(name) && !name.split(path.sep).some(isForOthers))
        .map((name) => path.join(folder, name))
        .filter((file) => statSync(file).isFile())
        .toSorted();
    },
    namesIn(folder) {
      if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
      return readdirSync(folder).toSorted();
    },
    variable: (name) => environment[name],
    now: () => rfc3339(new Date()),
  };
}

/** Whether a folder or file is no place for configuration: installed packages, and what begins with a dot. */
function isForOthers(name: string): boolean {
  return name === "node_modules" || name.startsWith(".");
}

/** Files and variables held in memory: every phase runs on it without a disk. */
export function memoryHost(
  files: Readonly<Record<string, string>>,
  variables: Readonly<Record<string, string>> = {},
): Host {
  return {
    readText(file) {
      const text = files[path.posix.normalize(file)];
      return text === undefined
        ? { kind: "problem", problem: "there is no such file" }
        : { kind: "text", text };
    },
    filesIn(folder) {
      const inside = Object.keys(files).filter((file) =>
        file.startsWith(`${path.posix.normalize(folder).replace(/\/$/, "")}/`),
      );
      if (inside.length === 0) return undefined;
      return inside.filter((file) => CONFIGURATION.test(file)).toSorted();
    },
    namesIn(folder) {
      const start = `${path.posix.normalize(folder).replace(/\/$/, "")}/`;
      const below = Object.keys(files).filter((file) => file.startsWith(start));
      if (below.length === 0) return undefined;
      return [
        ...new Set(below.map((file) => file.slice(start.length).split("/", 1)[0] ?? "")),
      ].sort();
    },
    variable: (name) => variables[name],
    now: () => "2026-01-01T00:00:00Z",
  };
}

/** UTF-8, or UTF-16 where a byte order mark says so, as YAML has it. */
export function fileText(bytes: Buffer): FileText {
  const encoding = bytes.length < 2 ? undefined : UTF16[bytes.readUInt16BE()];
  if (encoding !== undefined)
    return { kind: "text", text: new TextDecoder(encoding).decode(bytes) };
  return { kind: "text", text: bytes.toString("utf8"), isDamaged: !isUtf8(bytes) };
}

/** By the byte order marks, read as numbers. */
const UTF16: Readonly<Record<number, string>> = { 65534: "utf-16le", 65279: "utf-16be" };

function rfc3339(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, "Z");
}

/** A system error in a person's words. */
export function fileProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EEXIST") return "it is a file, and no folder";
  if (code === "ENOTDIR") return "a part of its path is not a folder";
  return code === "" ? "it can't be read" : code;
}
