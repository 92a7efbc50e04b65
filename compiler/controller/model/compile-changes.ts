import { createHash } from "node:crypto";
import type { BuildInfo } from "../../../runtime/gateway/build-info.ts";
import type { PrintedModule } from "../../../templates/code/print.ts";
import { buildInfoOf } from "../../4-emit/build-info.ts";
import type {
  CompiledFiles,
  CompiledGateway,
  CompiledStatus,
  PodSettings,
} from "./compile-files.ts";

/** Request to the compiler thread: only changes since the last one. */
export interface CompileRequest {
  /** Manifests by their paths. */
  readonly changed: Readonly<Record<string, string>>;
  /** Paths that are gone. */
  readonly removed: readonly string[];
  readonly pods: PodSettings | undefined;
}

/** Result of the thread: small parts whole, and changes of large ones. */
export interface CompileResponse extends CompileChange {
  /** Processor time of the thread in milliseconds. */
  readonly processorTime: number;
}

/** Differences between two compilations. */
export interface CompileChange {
  readonly gateways: readonly GatewayCode[];
  /** Statuses that are new or others. */
  readonly statuses: readonly CompiledStatus[];
  /** IDs (`statusId`) of statuses that no longer exist. */
  readonly withdrawn: readonly string[];
}

/** A compiled Gateway whose modules are named by their digests. */
export interface GatewayCode extends Omit<CompiledGateway, "modules"> {
  readonly build: BuildInfo;
  readonly modules: readonly CodeModule[];
}

/** A module of a Gateway's code. */
export interface CodeModule {
  readonly path: string;
  /** Of its text, hex. */
  readonly sha256: string;
  /** Undefined: the Gateway had a module of this digest before. */
  readonly text: string | undefined;
}

/** Which object a status is of. */
export function statusId({ kind, key }: Pick<CompiledStatus, "kind" | "key">): string {
  return `${kind} ${key}`;
}

/** Remembers what was responded, and says what has changed since. */
export class CompileChanges {
  readonly #digests: WeakMap<PrintedModule, string> = new WeakMap();
  /** Digests of modules, by Gateway. */
  #modules: ReadonlyMap<string, ReadonlySet<string>> = new Map();
  /** Statuses as JSON, by their ids. */
  #statuses: ReadonlyMap<string, string> = new Map();

  /** Returns the differences of this compilation to the ones before it. */
  of({ gateways, statuses }: CompiledFiles): CompileChange {
    const code = [...gateways.values()].map((gateway) => this.#codeOf(gateway));
    this.#modules = new Map(
      code.map(({ key, modules }) => [key, new Set(modules.map(({ sha256 }) => sha256))]),
    );
    const before = this.#statuses;
    const now = statuses.map((each) => [statusId(each), JSON.stringify(each)] as const);
    this.#statuses = new Map(now);
    return {
      gateways: code,
      statuses: statuses.filter((_, index) => {
        const [id = "", text] = now[index] ?? [];
        return before.get(id) !== text;
      }),
      withdrawn: [...before.keys()].filter((id) => !this.#statuses.has(id)),
    };
  }

  #codeOf({ modules, ...gateway }: CompiledGateway): GatewayCode {
    const known = this.#modules.get(gateway.key);
    return {
      ...gateway,
      build: buildInfoOf(modules),
      modules: modules.map((module) => {
        const sha256 = this.#digestOf(module);
        return { path: module.path, sha256, text: known?.has(sha256) ? undefined : module.text };
      }),
    };
  }

  #digestOf(module: PrintedModule): string {
    const known = this.#digests.get(module);
    if (known !== undefined) return known;
    const digest = createHash("sha256").update(module.text).digest("hex");
    this.#digests.set(module, digest);
    return digest;
  }
}
