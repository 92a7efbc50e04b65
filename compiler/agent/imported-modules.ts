import type { Gateway } from "../../runtime/gateway/definition.ts";
import { POLICY_FOLDER } from "../policies/custom/read-policy.ts";
import {
  type Exports,
  evaluateModules,
  type RunnableModule,
  runnable,
  runnableUserModule,
} from "../run/evaluate-modules.ts";
import { gatewayOf } from "../run/load.ts";
import { storedText } from "./agent-store.ts";
import type { OriginModule } from "./module-origins.ts";

/** Makes a module one that is evaluated: of a policy that operators wrote, or a generated one. */
function runnableModule(name: string, text: string): RunnableModule {
  return name.startsWith(POLICY_FOLDER) ? runnableUserModule(text) : runnable(text);
}

/**
 * Evaluates generations of a gateway in this thread. A module with unchanged inputs is reused, so that its counters
 * continue and a change of one route costs one module.
 */
export class ImportedModules {
  /** Exports of modules of the last generations, by their inputs. */
  #evaluated: ReadonlyMap<string, Exports> = new Map();
  /** Exports of modules of the generation that was evaluated last. */
  #last: ReadonlyMap<string, Exports> = new Map();

  /** Evaluates a generation. Throws errors of its modules, and if one does not match its digest. */
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
        ...runnableModule(name, storedText(file, name, sha256)),
      }));
    const evaluated = await evaluateModules(added, known);
    const own = new Map<string, Exports>();
    for (const { path: name, origin } of modules) {
      const exports = evaluated.get(name);
      if (exports !== undefined) own.set(origin, exports);
    }
    // Failed generations are cached too: the previous one stays in service, and the next may be similar.
    this.#evaluated = new Map([...this.#last, ...own]);
    this.#last = own;
    return gatewayOf(evaluated);
  }
}
