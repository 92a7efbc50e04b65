import * as real from "../../mcp/rules/tool-lock.ts";

export { listOwner } from "../../mcp/rules/tool-lock.ts";

/** In the place of mcp/rules/tool-lock.ts: servers of a trial offer names, and what is locked under a name is that tool. */
export function openToolLock({ targets }: real.ToolLockSettings): ToolLock {
  return new ToolLock({ maxAge: 0, targets });
}

/** What is locked under a name is that tool, whatever it says. */
export class ToolLock extends real.ToolLock {
  readonly #targets: real.ToolLockSettings["targets"];

  constructor(settings: real.ToolLockSettings) {
    super(settings);
    this.#targets = settings.targets;
  }

  override shows({ target }: real.ListOwner, { name }: real.OfferedTool): boolean {
    return Object.hasOwn(this.#targets[target] ?? {}, name);
  }

  override async verdictOn(owner: real.ListOwner, name: string): Promise<real.LockVerdict> {
    if (this.shows(owner, { name, text: "" })) return { kind: "locked" };
    return { kind: "withheld", why: "it is not in the lock" };
  }
}
