import { closeSync, openSync, readSync, statSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** The requests of a server, in a file that it writes before it responds: after the response, they are there. */
export interface SeenFile<Seen> {
  /** The variable that names the file to the server. */
  readonly env: Readonly<Record<"SEEN", string>>;
  /** A value for each line, in order; a line is read once. */
  read(): readonly Seen[];
}

/** An empty one; it is gone at the end of the test. */
export function seenFile<Seen>(): SeenFile<Seen> {
  const file = path.join(temporaryFolder({ seen: "" }), "seen");
  const values: Seen[] = [];
  /** Offset after the last line that was read. */
  let at = 0;
  return {
    env: { SEEN: file },
    read: () => {
      const bytes = bytesFrom(file, at);
      // A line that is being written has no end yet.
      const end = bytes.lastIndexOf("\n") + 1;
      at += end;
      const lines = bytes.toString("utf8", 0, end).split("\n").slice(0, -1);
      values.push(...lines.map((line) => JSON.parse(line)));
      return [...values];
    },
  };
}

function bytesFrom(file: string, start: number): Buffer {
  const bytes = Buffer.alloc(statSync(file).size - start);
  const opened = openSync(file, "r");
  try {
    readSync(opened, bytes, 0, bytes.length, start);
  } finally {
    closeSync(opened);
  }
  return bytes;
}
