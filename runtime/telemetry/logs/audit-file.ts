import { closeSync, fstatSync, openSync, statSync } from "node:fs";
import { StartupError } from "../../process/startup-error.ts";
import { LogWriter } from "./log-writer.ts";

/**
 * A file to which lines are appended. If it was moved away or removed (log rotation), it is reopened before the next line;
 * a truncated one is continued from its start.
 */
export class AuditFile {
  readonly #path: string;
  #opened: OpenFile;

  /** Throws StartupError if the file cannot be written. */
  constructor(path: string) {
    this.#path = path;
    this.#opened = openToAdd(path);
  }

  /** Appends a line, which ends with a line feed. */
  add(line: string): void {
    this.#follow();
    this.#opened.writer.add(line);
    this.#opened.writer.flush();
  }

  /** Writes the rest and closes the file. */
  close(): Promise<void> {
    return closeFile(this.#opened);
  }

  #follow(): void {
    const before = this.#opened;
    try {
      if (statSync(this.#path, { throwIfNoEntry: false })?.ino === before.inode) return;
      this.#opened = openToAdd(this.#path);
    } catch {
      // The old file stays in use, so that no lines are lost and no request fails.
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
    throw new StartupError(`cannot write the audit log: ${why}`);
  }
}

async function closeFile({ descriptor, writer }: OpenFile): Promise<void> {
  await writer.close();
  closeSync(descriptor);
}
