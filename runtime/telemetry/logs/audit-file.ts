import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { StartupError } from "../../process/startup-error.ts";
import { LogWriter } from "./log-writer.ts";

/**
 * A file that lines are added to. One that was moved away or removed, as logs are when they are rotated, is opened anew
 * before the next line; one that is cut is written from its beginning.
 */
export class AuditFile {
  readonly #path: string;
  #opened: OpenFile;

  /** Throws StartupError when it can't be written. */
  constructor(path: string) {
    this.#path = path;
    this.#opened = openToAdd(path);
  }

  /** Adds a line, which ends with a line feed. */
  add(line: string): void {
    this.#follow();
    this.#opened.writer.add(line);
    this.#opened.writer.flush();
  }

  /** Writes the rest; nothing more comes. */
  close(): Promise<void> {
    return closeFile(this.#opened);
  }

  #follow(): void {
    const before = this.#opened;
    try {
      if (statSync(this.#path, { throwIfNoEntry: false })?.ino === before.inode) return;
      this.#opened = openToAdd(this.#path);
    } catch {
      // Lines that can't be where they belong are better where they were, and no request fails for them.
      return;
    }
    void closeFile(before);
  }
}

interface OpenFile {
  readonly descriptor: number;
  readonly inode: number;
  readonly writer: LogWriter;
}

function openToAdd(path: string): OpenFile {
  try {
    const descriptor = openSync(path, "a", 0o640);
    return { descriptor, inode: fstatSync(descriptor).ino, writer: new LogWriter(descriptor) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new StartupError(`the audit log can't be written: ${why}`);
  }
}

async function closeFile({ descriptor, writer }: OpenFile): Promise<void> {
  await writer.close();
  closeSync(descriptor);
}
