import { readFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** What a server got, in a file that it writes to before it responds: who has its response finds it there. */
export interface SeenFile<Seen> {
  /** The variable by which the server is told of the file. */
  readonly env: Readonly<Record<"SEEN", string>>;
  /** A value for each line, in order. */
  read(): readonly Seen[];
}

/** An empty one; it is gone at the end of the test. */
export function seenFile<Seen>(): SeenFile<Seen> {
  const file = path.join(temporaryFolder({ seen: "" }), "seen");
  return {
    env: { SEEN: file },
    // A line that is being written has no end yet.
    read: () =>
      readFileSync(file, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
  };
}
