import type {
  ListedDefinition,
  ListOwner,
  LockVerdict,
  RequestedItem,
} from "../../mcp/rules/lock-check.ts";
import * as real from "../../mcp/rules/tool-lock.ts";

export { lockedPlaces } from "../../mcp/rules/tool-lock.ts";

/**
 * Replaces mcp/rules/tool-lock.ts: servers of a trial only offer names, so any item with a locked name is the locked one.
 */
export function openToolLock({ targets }: real.ToolLockSettings): ToolLock {
  return new ToolLock({ maxAge: 0, targets });
}

/** A lock that compares only names. */
export class ToolLock extends real.ToolLock {
  readonly #targets: real.ToolLockSettings["targets"];

  constructor(settings: real.ToolLockSettings) {
    super(settings);
    this.#targets = settings.targets;
  }

  /** Servers of a trial have no descriptions to approve. */
  override approves(): boolean {
    return true;
  }

  override shows({ target }: ListOwner, { list, name }: ListedDefinition): boolean {
    return Object.hasOwn(this.#targets[target]?.[list] ?? {}, name);
  }

  override async verdictOn({ target }: ListOwner, item: RequestedItem): Promise<LockVerdict> {
    if (real.lockedPlaces(this.#targets[target], item).length > 0) return { kind: "locked" };
    return { kind: "withheld", why: "it is not in the lock" };
  }
}
