import path from "node:path";
import { pause } from "../../harness/pause.ts";
import { pythonFor } from "../../harness/python.ts";
import { temporaryFolder } from "../../harness/temporary-folder.ts";
import { TestProcess } from "../../harness/test-process.ts";
import type { Trial, TryClient } from "./trial.ts";

/** The line with the findings. */
const LINE = /^\{"(?:tools|error)".*\}(?=\n)/m;

/** Returns how a client of python_clients.py is tried. */
export function tryPython(client: "sdk" | "fastmcp" | "agents" | "langchain"): TryClient {
  return async (url, calls) => {
    const python = await pythonFor(client === "langchain" ? client : "agents");
    const script = path.join(import.meta.dirname, "python_clients.py");
    const child = new TestProcess(python, [script], { env: { HOME: temporaryFolder({}) } });
    child.write(`${JSON.stringify({ client, url, calls })}\n`);
    let line: string | undefined;
    while (line === undefined) {
      if (child.hasEnded) throw new Error(child.output);
      await pause(100);
      line = LINE.exec(child.stdout)?.[0];
    }
    await child.stop();
    const found = JSON.parse(line);
    if (found.error !== undefined) throw new Error(found.error);
    return found as Trial;
  };
}
