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
  callerOf,
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

/** The approved items and their definitions. All settings are set: the runtime has no defaults. */
export interface ToolLockSettings {
  /** Milliseconds for which a target's list is cached; a later call requests it again. */
  readonly maxAge: number;
  /** The approved definitions by target. */
  readonly targets: Readonly<Record<string, LockedItems>>;
}

/**
 * The approved definitions of a target, by list and by the item's name, URI or template. If a list is absent, none of its
 * items are approved.
 */
export interface LockedItems
  extends Readonly<Partial<Record<ItemList, Readonly<Record<string, ItemDigests>>>>> {
  /** The digest of the target's instructions for clients; if absent, no instructions are approved. */
  readonly instructions?: string;
}

/** Creates a lock from its settings. */
export function openToolLock(settings: ToolLockSettings): ToolLock {
  return new ToolLock(settings);
}

/** Maximum number of cached lists of callers. */
const MAX_LISTS = 1000;

/** Maximum number of items with a warning; a target may invent any number. */
const MAX_WARNINGS = 1000;

/** Why each locked item is withheld; `undefined` if it is unchanged. Items that the target does not list are absent. */
interface SeenList {
  /** Milliseconds since the epoch. */
  at: number;
  /** Why each locked item is withheld; `undefined` if it is unchanged. Items that the target does not list are absent. */
  readonly verdicts: Map<string, string | undefined>;
  /** In flight while the list is requested. */
  asking: Promise<boolean> | undefined;
}

/** The place of an approved item: its list and its name in the list. */
export type LockedPlace = Pick<ListedDefinition, "list" | "name">;

/**
 * Withholds items that are not approved: those that the lock does not contain and those whose definition has changed.
 * Clients can call exactly the items that they can list.
 */
export class ToolLock implements ItemLock {
  readonly #maxAge: number;
  readonly #targets: ReadonlyMap<string, LockedItems>;
  readonly #lists = new Map<string, SeenList>();
  /** The last warning by target (about its instructions) or by target, list and item. */
  readonly #warnings = new Map<string, string>();

  constructor({ maxAge, targets }: ToolLockSettings) {
    this.#maxAge = maxAge;
    this.#targets = new Map(Object.entries(targets));
  }

  /** Whether a request names an item that the lock may withhold. */
  isAbout(request: Message): boolean {
    return lockedItem(request) !== undefined;
  }

  /**
   * Checks the item of a request against the lock. Returns `undefined` if the request may be sent; logs the refusal
   * otherwise.
   */
  check(call: LockedCall): Promise<LockRefusal | undefined> {
    return checkLock(this, call);
  }

  ownerOf(exchange: Exchange, jwt: JwtVariable, target: string): ListOwner {
    return { target, caller: callerOf(exchange, jwt), warn: exchange.gateway.warn };
  }

  /** Whether a listed item is visible; the result also decides about the caller's next calls. */
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

  /** Whether a target's instructions for clients (JSON text) are unchanged. */
  approves({ target, warn }: Omit<ListOwner, "caller">, instructions: string): boolean {
    const locked = this.#targets.get(target)?.instructions;
    const isLocked = locked === instructionsDigest(instructions);
    const why = locked === undefined ? "they are not in the lock" : "not as locked";
    this.#warnOnce(target, isLocked ? undefined : why, (reason) => {
      warn(`tool lock: the instructions of ${target} are withheld: ${reason}`);
    });
    return isLocked;
  }

  /** Drops the cached lists of a kind after the target has announced a change. */
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
    // Moves the entry to the end, so that the least recently used one is dropped first.
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
        // Other items are not cached: there may be any number of them.
        if (why !== NOT_LOCKED) seen.verdicts.set(item.name, why);
      }
      seen.at = at;
      return true;
    } finally {
      seen.asking = undefined;
    }
  }

  /** Returns why a listed item is withheld; `undefined` if it is unchanged. */
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

  /** Warns once per reason; `why` is `undefined` if the item is not withheld (any more). */
  #warnOnce(key: string, why: string | undefined, warn: (why: string) => void): void {
    if (why === undefined) this.#warnings.delete(key);
    else if (this.#warnings.get(key) !== why && this.#warnings.size < MAX_WARNINGS) {
      this.#warnings.set(key, why);
      warn(why);
    }
  }
}

const NOT_LOCKED = "it is not in the lock";

/** Returns the lists that contain items of a kind. */
function listsOf(kind: McpPrimitiveKind): readonly ItemList[] {
  return ITEM_LIST_NAMES.filter((list) => itemLists[list].kind === kind);
}

/**
 * Returns the places that may approve an item; one is enough. That is its own name or, for a resource whose URI is not
 * approved, the templates that match the URI.
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

/** Describes the difference between the approved and the listed definition; `undefined` if they are equal. */
function differenceOf(locked: ItemDigests, list: ItemList, text: string): string | undefined {
  const found = itemDigests(list, text);
  if (found === undefined) return "its definition has a duplicate key or is nested too deeply";
  const parts = [...new Set([...Object.keys(locked), ...Object.keys(found)])];
  const changed = parts.filter(
    (part) => locked[part] !== found[part] && !isOfRevision(part, locked, found),
  );
  return changed.length === 0 ? undefined : `not as locked: ${changed.join(", ")}`;
}

/**
 * Whether a part differs only because of the revision in which the target was called. Only some revisions have `execution`,
 * so a lock written in another one may lack it; it may then contain only whether calls become tasks.
 */
function isOfRevision(part: string, locked: ItemDigests, found: ItemDigests): boolean {
  if (part !== "execution") return false;
  return (
    found[part] === undefined || (locked[part] === undefined && plainExecutions.has(found[part]))
  );
}
