import { threadModule } from "../../installation.ts";
import { BackgroundThread } from "./background-thread.ts";
import {
  type CompileRequest,
  type CompileResponse,
  type GatewayCode,
  statusId,
} from "./compile-changes.ts";
import type { CompiledStatus, PodSettings } from "./compile-files.ts";

/** Meaning of the objects of a moment. */
export interface CompiledModel {
  /** By key; a Gateway with mistakes of its own is not there. */
  readonly gateways: ReadonlyMap<string, GatewayCode>;
  /** Everything that has a status; one that did not change is the same object as before. */
  readonly statuses: readonly CompiledStatus[];
  /** Processor time of the compilation in milliseconds. */
  readonly processorTime: number;
}

/** Compiles in a thread, which gets and gives what has changed since the last time. */
export class CompilerThread {
  readonly #thread = new BackgroundThread<CompileRequest, CompileResponse>(
    threadModule("controller/model/compile-worker"),
  );
  /** Files that the thread has, by path. */
  #files: Readonly<Record<string, string>> = {};
  readonly #statuses: Map<string, CompiledStatus> = new Map();

  /**
   * Compiles manifests by their paths. Rejects when the thread ends over it: a bug, too little memory, or more than
   * `limit` milliseconds of a processor.
   */
  async compile(
    files: Readonly<Record<string, string>>,
    pods: PodSettings | undefined,
    limit: number | undefined,
  ): Promise<CompiledModel> {
    const before = this.#files;
    const changed = Object.entries(files).filter(([path, text]) => before[path] !== text);
    const removed = Object.keys(before).filter((path) => files[path] === undefined);
    this.#files = files;
    try {
      const request = { changed: Object.fromEntries(changed), removed, pods };
      const { gateways, statuses, withdrawn, processorTime } = await this.#thread.ask(
        request,
        limit,
      );
      for (const id of withdrawn) this.#statuses.delete(id);
      for (const each of statuses) this.#statuses.set(statusId(each), each);
      return {
        gateways: new Map(gateways.map((gateway) => [gateway.key, gateway])),
        statuses: [...this.#statuses.values()],
        processorTime,
      };
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  /** Ends the thread; the next one begins with everything. */
  stop(): void {
    this.#thread.stop();
    this.#files = {};
    this.#statuses.clear();
  }
}
