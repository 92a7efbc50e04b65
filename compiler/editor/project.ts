import { gatewayName } from "../1-parse/gateway-name.ts";
import { CachedInput } from "../1-parse/read-files.ts";
import { CachedCheck, checkFiles } from "../compile.ts";
import { type Finding, findingsOf } from "../diagnostics/report/findings.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import { type Host, overlaidHost } from "../host.ts";
import type { CheckedInput } from "../inspect/check-input.ts";

/** A configuration that documents of the editor belong to, checked as `gwc check` does, with cached results. */
export class Project {
  /** Arguments of `gwc check`. */
  readonly files: readonly string[];
  readonly #host: Host;
  readonly #cached = new CachedCheck(new CachedInput({ hasNodes: true }));
  #checked: CheckedInput | undefined;

  constructor(files: readonly string[], host: Host) {
    this.files = files;
    this.#host = host;
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
    return new Project(this.files, host).findings;
  }

  /** Marks the result as outdated: a document or a file changed. */
  change(): void {
    this.#checked = undefined;
  }

  #check(): CheckedInput {
    const options = { name: gatewayName(this.files), isStrict: false };
    const checked = checkFiles(this.files, this.#host, options, this.#cached);
    this.#cached.input.files.turn();
    return { ...checked, findings: findingsOf(checked.diagnostics, checked.files, false) };
  }
}
