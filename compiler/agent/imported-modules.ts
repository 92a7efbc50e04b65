import { createHash } from "node:crypto";
import type { Gateway } from "../../runtime/gateway/definition.ts";
import { loadGateway } from "../run/load.ts";
import type { StoredModule } from "./agent-store.ts";

/**
 * Imports generations of a gateway into this process. What was imported is never freed, so a module that did not change is the
 * one of before, as long as it imports nothing of its gateway and the variables that it reads are the same.
 */
export class ImportedModules {
  /** The values of variables that a module was evaluated with, as a digest, by the digest of the module. */
  readonly #evaluated: Map<string, string> = new Map();
  /** Modules that may have failed: a process remembers that of a file for good. */
  readonly #failed: Set<string> = new Set();
  /** Text that was imported, in bytes. */
  bytes = 0;

  /** Imports a generation. Throws what its modules throw. */
  async load(
    modules: readonly StoredModule[],
    variables: Readonly<Record<string, string>>,
  ): Promise<Gateway> {
    const taken = new Set<string>();
    const shared = new Map<string, string>();
    const asked = modules.map(({ path, text, sha256, file }) => {
      const values = valuesIn(text, variables);
      const known = this.#evaluated.get(sha256);
      const isShared =
        isAlone(text) &&
        !taken.has(sha256) &&
        !this.#failed.has(sha256) &&
        (known === undefined || known === values);
      taken.add(sha256);
      if (!isShared || known === undefined) this.bytes += Buffer.byteLength(text);
      if (isShared) shared.set(sha256, values);
      return { path, text, ...(isShared ? { file } : {}) };
    });
    try {
      const gateway = await loadGateway({ modules: asked, literals: [] });
      for (const [sha256, values] of shared) this.#evaluated.set(sha256, values);
      return gateway;
    } catch (error) {
      for (const sha256 of shared.keys())
        if (!this.#evaluated.has(sha256)) this.#failed.add(sha256);
      throw error;
    }
  }
}

/** Whether a module imports nothing of its gateway: what it means is its own text. */
function isAlone(text: string): boolean {
  return !/\b(?:from|import) "\.{1,2}\//.test(text);
}

function valuesIn(text: string, variables: Readonly<Record<string, string>>): string {
  const named = Object.entries(variables).filter(([name]) => text.includes(JSON.stringify(name)));
  if (named.length === 0) return "";
  return createHash("sha256").update(JSON.stringify(named)).digest("base64");
}
