import { globSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:https";
import path from "node:path";
import { atEnd } from "./at-end.ts";
import { makeCertificate } from "./certificate.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** Contents of a folder at a moment. */
interface Sizes {
  /** Milliseconds since 1970. */
  readonly time: number;
  /** Bytes of each log, by its file. */
  readonly sizes: ReadonlyMap<string, number>;
}

/** Path at which kubelets serve the logs of their pods. */
export const LOGS_PORT = 10_250;

/** Serves the logs of pods, `NAME.log` in a folder, as a kubelet does (`/containerLogs/NAMESPACE/POD/CONTAINER`). */
export class PodLogs {
  readonly #folder: string;
  readonly #marks: Sizes[] = [];

  constructor(folder: string, host: string) {
    this.#folder = folder;
    const keys = temporaryFolder();
    makeCertificate(keys, "kubelet");
    const read = (name: string) => readFileSync(path.join(keys, name));
    const server = createServer(
      { cert: read("kubelet.pem"), key: read("kubelet.key") },
      (request, response) => {
        const url = new URL(request.url ?? "", "https://kubelet");
        const [, , , pod = ""] = url.pathname.split("/");
        response.end(this.#since(pod, Date.parse(url.searchParams.get("sinceTime") ?? "")));
      },
    );
    server.listen(LOGS_PORT, host);
    atEnd(() => server.close().closeAllConnections());
  }

  /** Remembers how long the logs are now: their lines have no times. */
  mark(): void {
    const files = globSync("*.log", { cwd: this.#folder });
    const sizes = files.map(
      (file) => [file, statSync(path.join(this.#folder, file)).size] as const,
    );
    this.#marks.push({ time: Date.now(), sizes: new Map(sizes) });
  }

  /** Returns the output of a pod since a time, and at most the time between two marks before; all of it without a time. */
  #since(pod: string, time: number): Buffer {
    const file = `${pod}.log`;
    const mark = this.#marks.findLast((each) => each.time <= time);
    return readFileSync(path.join(this.#folder, file)).subarray(mark?.sizes.get(file) ?? 0);
  }
}
