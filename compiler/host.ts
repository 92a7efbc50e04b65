import { isUtf8 } from "node:buffer";
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** Access of the compiler to its environment: files, variables, the clock. It has no other inputs. */
export interface Host {
  /** Returns the text of a file, or a description of the problem; `-` is standard input. */
  readText(file: string): FileText;
  /** Lists the YAML and JSON files below a folder, sorted; `undefined` if it is not a folder. */
  filesIn(folder: string): readonly string[] | undefined;
  /** Lists the names directly in a folder, sorted; `undefined` if it is not a folder. */
  namesIn(folder: string): readonly string[] | undefined;
  /** Returns the value of an environment variable. */
  variable(name: string): string | undefined;
  /** Returns the time in RFC 3339 format, to the second. */
  now(): string;
}

/** Text of a file, or a description of the problem. */
export type FileText =
  | {
      readonly kind: "text";
      readonly text: string;
      /** Whether some bytes are not valid UTF-8 and were replaced by U+FFFD. */
      readonly isDamaged?: boolean;
    }
  | { readonly kind: "problem"; readonly problem: string };

const CONFIGURATION = /\.(ya?ml|json)$/i;

/** Returns a host for the real file system; paths are relative to the working directory. */
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
        .filter(isConfiguration)
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

/** Whether a file, by its name relative to a folder, is part of the input if the folder is. */
function isConfiguration(name: string): boolean {
  return CONFIGURATION.test(name) && !name.split(path.sep).some(isForOthers);
}

/** Whether a folder or file never contains configuration: installed packages, and names that begin with a dot. */
function isForOthers(name: string): boolean {
  return name === "node_modules" || name.startsWith(".");
}

/**
 * Returns the same host with these texts in place of files, by absolute path. Folders also contain those that do not
 * exist as files.
 */
export function overlaidHost(
  host: Host,
  texts: Pick<ReadonlyMap<string, string>, "get" | "keys">,
): Host {
  return {
    ...host,
    readText(file) {
      const text = texts.get(path.resolve(file));
      return text === undefined ? host.readText(file) : { kind: "text", text };
    },
    filesIn(folder) {
      const found = host.filesIn(folder);
      if (found === undefined) return undefined;
      const inside = [...texts.keys()]
        .map((file) => path.relative(path.resolve(folder), file))
        .filter((name) => !path.isAbsolute(name) && isConfiguration(name))
        .map((name) => path.join(folder, name));
      return [...new Set([...found, ...inside])].toSorted();
    },
  };
}

/** Returns a host with files and variables in memory, so that every phase runs without a disk. */
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

/** Decodes UTF-8, or UTF-16 with a byte order mark, as in YAML. */
export function fileText(bytes: Buffer): FileText {
  const encoding = bytes.length < 2 ? undefined : UTF16[bytes.readUInt16BE()];
  if (encoding !== undefined)
    return { kind: "text", text: new TextDecoder(encoding).decode(bytes) };
  return { kind: "text", text: bytes.toString("utf8"), isDamaged: !isUtf8(bytes) };
}

/** Encodings by byte order mark, read as a number. */
const UTF16: Readonly<Record<number, string>> = { 65534: "utf-16le", 65279: "utf-16be" };

function rfc3339(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, "Z");
}

/** Describes a file system error. */
export function fileProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  if (code === "EISDIR") return "it is a folder";
  if (code === "EEXIST") return "it is a file, not a folder";
  if (code === "ENOTDIR") return "a part of its path is not a folder";
  return code === "" ? "it can't be read" : code;
}
