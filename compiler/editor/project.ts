import path from "node:path";
import { gatewayName } from "../1-parse/gateway-name.ts";
import { CachedInput } from "../1-parse/read-files.ts";
import { CachedCheck, checkFiles } from "../compile.ts";
import { type Finding, findingsOf } from "../diagnostics/report/findings.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import { type Host, overlaidHost } from "../host.ts";
import type { CheckedInput } from "../inspect/check-input.ts";
import { isInside } from "./inputs.ts";

/** A configuration that documents of the editor belong to, checked as `gwc check` does, with cached results. */
export class Project {
  /** Arguments of `gwc check`. */
  readonly files: readonly string[];
  readonly #host: Host;
  readonly #read: CachedInput;
  #cached: CachedCheck;
  /** Absolute paths of the files of the configuration. */
  #inputs: ReadonlySet<string> = new Set();
  /** Absolute paths of the files that any cached result depends on. */
  readonly #dependencies = new Set<string>();
  #checked: CheckedInput | undefined;

  /** Creates a project; `read` holds the texts of the workspace. */
  constructor(files: readonly string[], host: Host, read: CachedInput) {
    this.files = files;
    this.#host = host;
    this.#read = read;
    this.#cached = new CachedCheck(read);
  }

  /** Result of checking the current texts. */
  get checked(): CheckedInput {
    this.#checked ??= this.#check();
    return this.#checked;
  }

  /** Findings of the current texts, as `gwc check` reports them. */
  get findings(): readonly Finding[] {
    return this.checked.findings;
  }

  /** The files of the configuration, valid or not. */
  get sources(): readonly SourceFile[] {
    return this.checked.files;
  }

  /** Returns what `gwc check` would report if a file had another text. */
  findingsWith(file: string, text: string): readonly Finding[] {
    const host = overlaidHost(this.#host, new Map([[file, text]]));
    return new Project(this.files, host, new CachedInput({ hasNodes: true })).findings;
  }

  /** Marks the result as outdated if it depends on a document that changed. */
  change(file: string): void {
    const isRead = this.#dependencies.has(file);
    if (isRead || this.files.some((input) => isInside(file, input))) this.#checked = undefined;
    if (!isRead || this.#inputs.has(file)) return;
    // Cached results of routes, which are known by their configuration, may have read it.
    this.#cached = new CachedCheck(this.#read);
    this.#dependencies.clear();
  }

  #check(): CheckedInput {
    const options = { name: gatewayName(this.files), isStrict: false };
    const checked = checkFiles(this.files, this.#host, options, this.#cached);
    this.#inputs = new Set(
      checked.files.flatMap((file) => (file.documents.length > 0 ? path.resolve(file.path) : [])),
    );
    for (const each of checked.dependencies) this.#dependencies.add(path.resolve(each));
    return { ...checked, findings: findingsOf(checked.diagnostics, checked.files, false) };
  }
}
