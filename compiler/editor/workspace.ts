import path from "node:path";
import { readDocuments } from "../1-parse/documents.ts";
import { isTestFile } from "../1-parse/input-files.ts";
import { CachedInput } from "../1-parse/read-files.ts";
import { CachedResults } from "../cached-results.ts";
import { Diagnostics } from "../diagnostics/diagnostic.ts";
import { type Finding, findingsOf } from "../diagnostics/report/findings.ts";
import type { SourceFile } from "../diagnostics/source.ts";
import { type Host, overlaidHost } from "../host.ts";
import { readTests } from "../inspect/tests/read-tests.ts";
import { type ConfiguredInputs, type DocumentUse, useByName, useOf } from "./inputs.ts";
import { Project } from "./project.ts";

/** An open document of gwc. */
export interface OpenFile {
  readonly path: string;
  readonly use: DocumentUse;
  /** The configuration that it belongs to or tests; `undefined` for tests without one. */
  readonly project: Project | undefined;
}

/** The open documents of an editor, and the configurations that they belong to. */
export class Workspace {
  /** Host whose files are shadowed by open documents. */
  readonly host: Host;
  readonly #texts = new Map<string, string>();
  /** Last known uses of open documents. */
  readonly #uses = new Map<string, DocumentUse>();
  /** Open documents since the last change. */
  readonly #files = new Map<string, OpenFile | undefined>();
  readonly #projects = new Map<string, Project>();
  readonly #sources = new Map<string, SourceFile>();
  /** Findings of the last run of test files, until a document changes. */
  readonly #testRuns = new Map<string, readonly Finding[]>();
  /** Texts as read, which all configurations share. */
  readonly #read = new CachedInput({ hasNodes: true });
  /** Findings of test files without running them. */
  readonly #tests = new CachedResults<readonly Finding[]>();
  /** Whether all findings were computed since files changed. */
  #isComplete = false;
  #configured: ConfiguredInputs = [];

  constructor(host: Host) {
    this.host = overlaidHost(host, this.#texts);
  }

  /** Sets the inputs that the user configured. */
  configure(inputs: ConfiguredInputs): void {
    this.#configured = inputs;
    this.#uses.clear();
    this.changeFiles();
  }

  /** Opens a document or changes its text. */
  open(file: string, text: string): void {
    if (this.#texts.get(file) === text) return;
    this.#texts.set(file, text);
    this.#change(file);
  }

  /** Closes a document: from now on, its file counts. */
  close(file: string): void {
    this.#texts.delete(file);
    this.#uses.delete(file);
    this.#change(file);
    this.#dropUnused();
  }

  /** Marks every result as outdated: files changed that are not open. */
  changeFiles(): void {
    this.#projects.clear();
    this.#files.clear();
    this.#sources.clear();
    // Entries that no finding needed belong to files that are gone.
    if (this.#isComplete) {
      this.#read.turn();
      this.#tests.turn();
    }
    this.#isComplete = false;
  }

  /** Returns an open document; `undefined` if it is not open, or not a file of gwc. */
  file(name: string): OpenFile | undefined {
    if (!this.#texts.has(name)) return undefined;
    if (!this.#files.has(name)) this.#files.set(name, this.#fileOf(name));
    return this.#files.get(name);
  }
  /** Returns the open documents of gwc. */
  get files(): readonly OpenFile[] {
    return [...this.#texts.keys()].flatMap((file) => this.file(file) ?? []);
  }

  /** Returns the YAML of a document or file, whether it is valid or not. */
  source(file: string): SourceFile {
    const known = this.#sources.get(file);
    if (known !== undefined) return known;
    const read = this.host.readText(file);
    const text = read.kind === "text" ? read.text : "";
    const parsed = this.#read.yamlOf(file, text);
    const source = readDocuments(file, file, text, new Diagnostics(), parsed);
    this.#sources.set(file, source);
    return source;
  }

  /** Returns the test files in the folder of a configuration. */
  testsOf(files: readonly string[]): readonly SourceFile[] {
    const folders = files.map((file) =>
      this.host.filesIn(file) === undefined ? path.dirname(file) : file,
    );
    const names = folders.flatMap((folder) => this.host.namesIn(folder) ?? []).filter(isTestFile);
    const written = folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
    const open = [...this.#texts.keys()].filter(
      (file) => isTestFile(file) && folders.includes(path.dirname(file)),
    );
    return [...new Set([...written, ...open])].map((file) => this.source(file));
  }

  /** Returns the findings of all configurations and test files of open documents. */
  get findings(): readonly Finding[] {
    const files = this.files;
    const projects = new Set(files.flatMap(({ project }) => project ?? []));
    const tests = files.flatMap((file) => (file.use.kind === "tests" ? file.path : []));
    this.#isComplete = true;
    return [
      ...[...projects].flatMap((project) => project.findings),
      ...tests.flatMap((test) => this.#testFindings(test)),
    ];
  }

  #fileOf(name: string): OpenFile | undefined {
    // A document that became invalid while it is edited remains what it was.
    const found = useOf(name, this.host, this.#configured, this.#read);
    const use = found ?? this.#uses.get(name) ?? useByName(name);
    if (use === undefined) return undefined;
    this.#uses.set(name, use);
    return { path: name, use, project: use.files && this.#project(use.files) };
  }

  #change(file: string): void {
    this.#sources.delete(file);
    this.#files.clear();
    this.#testRuns.clear();
    for (const project of this.#projects.values()) project.change(file);
  }

  /** Runs the tests of a file; its findings are those of the run until a document changes. Returns a summary. */
  async runTests(file: string): Promise<string> {
    const project = this.file(file)?.project;
    if (project === undefined) return "there is no configuration next to the tests";
    const { checked } = project;
    if (checked.programs.length === 0) return "the configuration has mistakes";
    const { runTests } = await import("../inspect/tests/run-tests.ts");
    const { verdicts, mistakes, files } = await runTests([file], checked, this.host);
    const failed = verdicts.filter(({ diagnostics }) => diagnostics.length > 0);
    const found = [...mistakes, ...failed.flatMap(({ diagnostics }) => diagnostics)];
    this.#testRuns.set(file, findingsOf(found, files, false));
    return `${path.basename(file)}: ${verdicts.length - failed.length} passed, ${failed.length} failed`;
  }

  #testFindings(file: string): readonly Finding[] {
    const ofRun = this.#testRuns.get(file);
    if (ofRun !== undefined) return ofRun;
    return this.#tests.of(file, this.#texts.get(file) ?? "", () => {
      const diagnostics = new Diagnostics();
      const { files } = readTests([file], this.host, diagnostics);
      return findingsOf(diagnostics.list, files, false);
    });
  }

  #project(files: readonly string[]): Project {
    const key = files.join("\n");
    const project = this.#projects.get(key) ?? new Project(files, this.host, this.#read);
    this.#projects.set(key, project);
    return project;
  }

  #dropUnused(): void {
    const used = new Set([...this.#uses.values()].flatMap(({ files }) => files?.join("\n") ?? []));
    for (const key of this.#projects.keys()) if (!used.has(key)) this.#projects.delete(key);
  }
}
