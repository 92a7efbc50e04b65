import type { JwtVariable } from "../../cel/variables.ts";
import type { Exchange } from "../../http/exchange.ts";
import {
  type ItemDigests,
  instructionsDigest,
  itemDigests,
  plainExecutions,
} from "../protocol/item-digests.ts";
import {
  ITEM_LIST_NAMES,
  type ItemList,
  itemLists,
  type McpPrimitiveKind,
} from "../protocol/item-lists.ts";
import type { Message } from "../protocol/message.ts";
import { matchesTemplate } from "../protocol/uri-template.ts";

import {
  type AskForList,
  checkLock,
  type ItemLock,
  type ListedDefinition,
  type ListOwner,
  type LockedCall,
  type LockRefusal,
  type LockVerdict,
  lockedItem,
  type RequestedItem,
} from "./lock-check.ts";

/** Which items are approved, and in which words. Complete: nothing is defaulted at run time. */
export interface ToolLockSettings {
  /** Milliseconds for which a target's list counts: a call after it asks the target anew. */
  readonly maxAge: number;
  /** The approved definitions by target. */
  readonly targets: Readonly<Record<string, LockedItems>>;
}

/** The approved definitions of a target by list and by the item's name, URI or template; a list that is not there has none. */
export interface LockedItems
  extends Readonly<Partial<Record<ItemList, Readonly<Record<string, ItemDigests>>>>> {
  /** The digest of what it tells clients of its use; without one nothing of the kind is approved. */
  readonly instructions?: string;
}

/** Makes a lock of its settings. */
export function openToolLock(settings: ToolLockSettings): ToolLock {
  return new ToolLock(settings);
}

/** The most callers whose lists are remembered. */
const MAX_LISTS = 1000;

/** The most items of which the operator is warned: a target may make up any number. */
const MAX_WARNINGS = 1000;

/** What a target was last seen to offer to somebody. */
interface SeenList {
  /** Milliseconds since the epoch. */
  at: number;
  /** Why each locked item is withheld; undefined: it is as it was locked. An item that is not listed is not there. */
  readonly verdicts: Map<string, string | undefined>;
  /** Under way while the target is asked. */
  asking: Promise<boolean> | undefined;
}

/** Where an approved item stands: its list, and its name in it. */
export type LockedPlace = Pick<ListedDefinition, "list" | "name">;

/**
 * Withholds items that are not approved: those that are in no lock, and those that say something else than when they were
 * locked. What clients are shown and what they can call is the same.
 */
export class ToolLock implements ItemLock {
  readonly #maxAge: number;
  readonly #targets: ReadonlyMap<string, LockedItems>;
  readonly #lists = new Map<string, SeenList>();
  /** What the operator was warned of last, by target (of its instructions) or by target, list and item. */
  readonly #warnings = new Map<string, string>();

  constructor({ maxAge, targets }: ToolLockSettings) {
    this.#maxAge = maxAge;
    this.#targets = new Map(Object.entries(targets));
  }

  /** Whether a request is for something that it may withhold. */
  isAbout(request: Message): boolean {
    return lockedItem(request) !== undefined;
  }

  /** Holds the item of a request against the lock; undefined: it may be sent. What is withheld is noted. */
  check(call: LockedCall): Promise<LockRefusal | undefined> {
    return checkLock(this, call);
  }

  ownerOf(exchange: Exchange, jwt: JwtVariable, target: string): ListOwner {
    const { remoteAddress, record, gateway } = exchange;
    const said = ["mcp-session-id", "authorization", "cookie"].map((name) => exchange.header(name));
    const caller = JSON.stringify([...said, remoteAddress, jwt?.iss, jwt?.sub, record.caller]);
    return { target, caller, warn: gateway.warn };
  }

  /** Whether an item that a target lists is shown; calls go by it from now on. */
  shows(owner: ListOwner, item: ListedDefinition): boolean {
    const why = this.#reasonFor(owner, item);
    if (why !== NOT_LOCKED) this.#lists.get(keyOf(owner, item.list))?.verdicts.set(item.name, why);
    return why === undefined;
  }

  async verdictOn(owner: ListOwner, item: RequestedItem, ask: AskForList): Promise<LockVerdict> {
    let verdict: LockVerdict = { kind: "withheld", why: NOT_LOCKED };
    for (const place of lockedPlaces(this.#targets.get(owner.target), item)) {
      verdict = await this.#verdictAt(owner, place, ask);
      if (verdict.kind !== "withheld") break;
    }
    return verdict;
  }

  /** Whether what a target tells clients of its use (JSON text) is as it was locked. */
  approves({ target, warn }: Omit<ListOwner, "caller">, instructions: string): boolean {
    const locked = this.#targets.get(target)?.instructions;
    const isLocked = locked === instructionsDigest(instructions);
    const why = locked === undefined ? "they are not in the lock" : "not as locked";
    this.#warnOnce(target, isLocked ? undefined : why, (reason) => {
      warn(`tool lock: the instructions of ${target} are withheld: ${reason}`);
    });
    return isLocked;
  }

  /** A target says that items of a kind are others now. */
  forget(target: string, kind: McpPrimitiveKind): void {
    for (const key of this.#lists.keys()) {
      if (listsOf(kind).some((list) => key.startsWith(`${target}\n${list}\n`)))
        this.#lists.delete(key);
    }
  }

  async #verdictAt(
    owner: ListOwner,
    { list, name }: LockedPlace,
    ask: AskForList,
  ): Promise<LockVerdict> {
    const seen = this.#seen(keyOf(owner, list));
    if (Date.now() - seen.at >= this.#maxAge) {
      const isFirst = seen.asking === undefined;
      seen.asking ??= this.#ask(seen, owner, () => ask(list));
      const isKnown =
        (await seen.asking) || (!isFirst && (await this.#ask(seen, owner, () => ask(list))));
      if (!isKnown) return { kind: "unknown" };
    }
    if (!seen.verdicts.has(name)) return { kind: "withheld", why: "its server does not list it" };
    const why = seen.verdicts.get(name);
    return why === undefined ? { kind: "locked" } : { kind: "withheld", why };
  }

  #seen(key: string): SeenList {
    const seen = this.#lists.get(key) ?? { at: 0, verdicts: new Map(), asking: undefined };
    // The one that was used last is the last to be forgotten.
    this.#lists.delete(key);
    this.#lists.set(key, seen);
    const [oldest] = this.#lists.keys();
    if (this.#lists.size > MAX_LISTS && oldest !== undefined) this.#lists.delete(oldest);
    return seen;
  }

  async #ask(
    seen: SeenList,
    owner: ListOwner,
    ask: () => Promise<readonly ListedDefinition[] | undefined>,
  ): Promise<boolean> {
    const at = Date.now();
    try {
      const items = await ask();
      if (items === undefined) return false;
      seen.verdicts.clear();
      for (const item of items) {
        const why = this.#reasonFor(owner, item);
        // Of others nothing is kept: there may be any number.
        if (why !== NOT_LOCKED) seen.verdicts.set(item.name, why);
      }
      seen.at = at;
      return true;
    } finally {
      seen.asking = undefined;
    }
  }

  /** Why an item is withheld that a target lists; undefined: it is as it was locked. */
  #reasonFor(
    { target, warn }: ListOwner,
    { list, name, text }: ListedDefinition,
  ): string | undefined {
    const locked = digestsOf(this.#targets.get(target), { list, name });
    const why = locked === undefined ? NOT_LOCKED : differenceOf(locked, list, text);
    this.#warnOnce(`${target}\n${list}\n${name}`, why, (reason) => {
      const item = `${itemLists[list].word} ${JSON.stringify(name)}`;
      warn(`tool lock: ${item} of ${target} is withheld: ${reason}`);
    });
    return why;
  }

  /** Warns of what is withheld, until it is not (`why` is undefined) or for another reason. */
  #warnOnce(key: string, why: string | undefined, warn: (why: string) => void): void {
    if (why === undefined) this.#warnings.delete(key);
    else if (this.#warnings.get(key) !== why && this.#warnings.size < MAX_WARNINGS) {
      this.#warnings.set(key, why);
      warn(why);
    }
  }
}

const NOT_LOCKED = "it is not in the lock";

/** The lists that items of a kind stand in. */
function listsOf(kind: McpPrimitiveKind): readonly ItemList[] {
  return ITEM_LIST_NAMES.filter((list) => itemLists[list].kind === kind);
}

/**
 * Where the approval of an item stands, any of which is enough: under its own name, or, of a resource that nobody has
 * approved by its URI, under the templates that may have made it.
 */
export function lockedPlaces(
  locked: LockedItems | undefined,
  { kind, name }: RequestedItem,
): readonly LockedPlace[] {
  const own = listsOf(kind).map((list) => ({ list, name }));
  const found = own.filter((place) => digestsOf(locked, place) !== undefined);
  if (found.length > 0 || kind !== "resource") return found;
  return Object.keys(locked?.resourceTemplates ?? {})
    .filter((template) => matchesTemplate(template, name))
    .map((template) => ({ list: "resourceTemplates", name: template }));
}

function digestsOf(
  locked: LockedItems | undefined,
  { list, name }: LockedPlace,
): ItemDigests | undefined {
  const items = locked?.[list];
  return items !== undefined && Object.hasOwn(items, name) ? items[name] : undefined;
}

function keyOf({ target, caller }: ListOwner, list: ItemList): string {
  return `${target}\n${list}\n${caller}`;
}

/** What differs between the approved definition and the one that a target lists; undefined: nothing. */
function differenceOf(locked: ItemDigests, list: ItemList, text: string): string | undefined {
  const found = itemDigests(list, text);
  if (found === undefined) return "its definition has a key twice, or is too deep";
  const parts = [...new Set([...Object.keys(locked), ...Object.keys(found)])];
  const changed = parts.filter(
    (part) => locked[part] !== found[part] && !isOfRevision(part, locked, found),
  );
  return changed.length === 0 ? undefined : `not as locked: ${changed.join(", ")}`;
}

/**
 * Whether a part is there or not because of the revision in which the target was asked: only some have `execution`, and a
 * lock that was written in another one may have none. It then may say no more than whether calls become tasks.
 */
function isOfRevision(part: string, locked: ItemDigests, found: ItemDigests): boolean {
  if (part !== "execution") return false;
  return (
    found[part] === undefined || (locked[part] === undefined && plainExecutions.has(found[part]))
  );
}
