import type { Gateway } from "../../runtime/gateway/definition.ts";
import { type Exports, evaluateModules, runnable } from "../run/evaluate-modules.ts";
import { gatewayOf } from "../run/load.ts";
import { storedText } from "./agent-store.ts";
import type { OriginModule } from "./module-origins.ts";

/**
 * Evaluates generations of a gateway in this thread. A module is the one of the generation before if what it follows from is
 * the same: it keeps what it counts, and a change of one route costs one module.
 */
export class ImportedModules {
  /** What modules of the last generations export, by what they follow from. */
  #evaluated: ReadonlyMap<string, Exports> = new Map();
  /** Those of the generation that was evaluated last. */
  #last: ReadonlyMap<string, Exports> = new Map();

  /** Evaluates a generation. Throws what its modules throw, and when one is not what its digest says. */
  async load(modules: readonly OriginModule[]): Promise<Gateway> {
    const known = new Map<string, Exports>();
    for (const { path: name, origin } of modules) {
      const exports = this.#evaluated.get(origin);
      if (exports !== undefined) known.set(name, exports);
    }
    const added = modules
      .filter(({ path: name }) => !known.has(name))
      .map(({ path: name, file, sha256 }) => ({
        path: name,
        ...runnable(storedText(file, name, sha256)),
      }));
    const evaluated = await evaluateModules(added, known);
    const own = new Map<string, Exports>();
    for (const { path: name, origin } of modules) {
      const exports = evaluated.get(name);
      if (exports !== undefined) own.set(origin, exports);
    }
    // A generation that can't be served is evaluated as well: the one before goes on, and the next may be like it.
    this.#evaluated = new Map([...this.#last, ...own]);
    this.#last = own;
    return gatewayOf(evaluated);
  }
}
