import type { JwtVariable } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import { type ToolDigests, toolDigests } from "../protocol/tool-digests.ts";

/** Which tools are approved, and in which words. Complete: nothing is defaulted at run time. */
export interface ToolLockSettings {
  /** Milliseconds for which a target's list counts: a call after it asks the target anew. */
  readonly maxAge: number;
  /** The approved definitions by target and tool. */
  readonly targets: Readonly<Record<string, LockedTools>>;
}

/** The approved definitions of a target, by the tool's name there. */
export type LockedTools = Readonly<Record<string, ToolDigests>>;

/** A tool as a target lists it. */
export interface OfferedTool {
  readonly name: string;
  /** The whole definition as JSON text. */
  readonly text: string;
}

/** Whose list it is: what a target shows to one client may be another list for the next. */
export interface ListOwner {
  readonly target: string;
  /** Tells callers apart: their session, identity, credentials and address. */
  readonly caller: string;
  /** Warns the operator. */
  readonly warn: (message: string) => void;
}

/** What becomes of a call: `unknown`: the target does not say what it offers. */
export type LockVerdict =
  | { readonly kind: "locked" }
  | { readonly kind: "unknown" }
  | { readonly kind: "withheld"; readonly why: string };

/** Makes a lock of its settings. */
export function openToolLock(settings: ToolLockSettings): ToolLock {
  return new ToolLock(settings);
}

/** The most callers whose lists are remembered. */
const maxLists = 1000;

/** The most tools of which the operator is warned: a target may make up any number. */
const maxWarnings = 1000;

/** What a target was last seen to offer to somebody. */
interface SeenList {
  /** Milliseconds since the epoch. */
  at: number;
  /** Why each locked tool is withheld; undefined: it is as it was locked. A tool that is not listed is not there. */
  readonly verdicts: Map<string, string | undefined>;
  /** Under way while the target is asked. */
  asking: Promise<boolean> | undefined;
}

/**
 * Withholds tools that are not approved: those that are in no lock, and those that say something else than when they were
 * locked. What clients are shown and what they can call is the same.
 */
export class ToolLock {
  readonly #maxAge: number;
  readonly #locked: ReadonlyMap<string, ReadonlyMap<string, ToolDigests>>;
  readonly #lists = new Map<string, SeenList>();
  /** What the operator was warned of last, by target and tool. */
  readonly #warnings = new Map<string, string>();

  constructor({ maxAge, targets }: ToolLockSettings) {
    this.#maxAge = maxAge;
    this.#locked = new Map(
      Object.entries(targets).map(([target, tools]) => [target, new Map(Object.entries(tools))]),
    );
  }

  /** Whether a tool that a target lists is shown; calls go by it from now on. */
  shows(owner: ListOwner, tool: OfferedTool): boolean {
    const why = this.#reasonFor(owner, tool);
    if (why !== NOT_LOCKED) this.#lists.get(keyOf(owner))?.verdicts.set(tool.name, why);
    return why === undefined;
  }

  /**
   * What becomes of a call. `list` asks the target for all its tools (undefined: it does not say); those who want to know at
   * the same time ask once, and each for itself where that failed.
   */
  async verdictOn(
    owner: ListOwner,
    name: string,
    list: () => Promise<readonly OfferedTool[] | undefined>,
  ): Promise<LockVerdict> {
    if (this.#locked.get(owner.target)?.has(name) !== true)
      return { kind: "withheld", why: NOT_LOCKED };
    const seen = this.#seen(owner);
    if (Date.now() - seen.at >= this.#maxAge) {
      const isFirst = seen.asking === undefined;
      seen.asking ??= this.#ask(seen, owner, list);
      const isKnown = (await seen.asking) || (!isFirst && (await this.#ask(seen, owner, list)));
      if (!isKnown) return { kind: "unknown" };
    }
    if (!seen.verdicts.has(name)) return { kind: "withheld", why: "its server does not list it" };
    const why = seen.verdicts.get(name);
    return why === undefined ? { kind: "locked" } : { kind: "withheld", why };
  }

  /** A target says that its tools are others now. */
  forget(target: string): void {
    for (const key of this.#lists.keys()) {
      if (key.startsWith(`${target}\n`)) this.#lists.delete(key);
    }
  }

  #seen(owner: ListOwner): SeenList {
    const key = keyOf(owner);
    const seen = this.#lists.get(key) ?? { at: 0, verdicts: new Map(), asking: undefined };
    // The one that was used last is the last to be forgotten.
    this.#lists.delete(key);
    this.#lists.set(key, seen);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > maxLists && oldest !== undefined) this.#lists.delete(oldest);
    return seen;
  }

  async #ask(
    seen: SeenList,
    owner: ListOwner,
    list: () => Promise<readonly OfferedTool[] | undefined>,
  ): Promise<boolean> {
    const at = Date.now();
    try {
      const tools = await list();
      if (tools === undefined) return false;
      seen.verdicts.clear();
      for (const tool of tools) {
        const why = this.#reasonFor(owner, tool);
        // Of others nothing is kept: there may be any number.
        if (why !== NOT_LOCKED) seen.verdicts.set(tool.name, why);
      }
      seen.at = at;
      return true;
    } finally {
      seen.asking = undefined;
    }
  }

  /** Why a tool is withheld that a target lists; undefined: it is as it was locked. */
  #reasonFor({ target, warn }: ListOwner, { name, text }: OfferedTool): string | undefined {
    const locked = this.#locked.get(target)?.get(name);
    const why = locked === undefined ? NOT_LOCKED : differenceOf(locked, text);
    const key = `${target}\n${name}`;
    if (why === undefined) this.#warnings.delete(key);
    else if (this.#warnings.get(key) !== why && this.#warnings.size < maxWarnings) {
      this.#warnings.set(key, why);
      warn(`tool lock: tool ${JSON.stringify(name)} of ${target} is withheld: ${why}`);
    }
    return why;
  }
}

const NOT_LOCKED = "it is not in the lock";

/** Who asks a target, as far as its lists may differ. */
export function listOwner(exchange: Exchange, jwt: JwtVariable, target: string): ListOwner {
  const { remoteAddress, record, gateway } = exchange;
  const said = ["mcp-session-id", "authorization", "cookie"].map((name) => exchange.header(name));
  const caller = JSON.stringify([...said, remoteAddress, jwt?.iss, jwt?.sub, record.caller]);
  return { target, caller, warn: gateway.warn };
}

function keyOf({ target, caller }: ListOwner): string {
  return `${target}\n${caller}`;
}

/** What differs between the approved definition and the one that a target lists; undefined: nothing. */
function differenceOf(locked: ToolDigests, text: string): string | undefined {
  const found = toolDigests(text);
  if (found === undefined) return "its definition has a key twice, or is too deep";
  const parts = [...new Set([...Object.keys(locked), ...Object.keys(found)])];
  const changed = parts.filter((part) => locked[part] !== found[part]);
  return changed.length === 0 ? undefined : `not as locked: ${changed.join(", ")}`;
}
