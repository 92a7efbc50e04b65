import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** A folder that a test works in. It is gone at the end of the test. */
export class Workspace {
  readonly folder: string;

  constructor(files: Readonly<Record<string, string>> = {}) {
    this.folder = temporaryFolder(files);
  }

  /** Writes a file in place. */
  write(name: string, text: string): string {
    const file = this.path(name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  path(name: string): string {
    return path.join(this.folder, name);
  }
}
