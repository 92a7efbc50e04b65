import { type ListedItem, renamedEntry } from "../protocol/list-edit.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { rpcCode, rpcResult } from "../protocol/rpc-response.ts";
import type { Outcome, TargetFailure } from "../protocol/target-failure.ts";
import { isListed } from "../rules/authorization.ts";
import { listedItems } from "../rules/lock-check.ts";
import { featureLetters } from "../session/session.ts";
import { outcomeOf } from "../transports/fan-out.ts";
import type { OwnedList, OwnedRequest, OwningTarget } from "../transports/item-owners.ts";
import { withAppUris } from "./app-uris.ts";
import { failedTarget } from "./failed-target.ts";
import { clientName } from "./names.ts";
import { checkName, isOmitted } from "./omitted-items.ts";

/** All pages of a list of all targets, as far as a caller may see it. */
export interface WholeList {
  /** In the order of the targets; names are unique. */
  readonly items: readonly VisibleItem[];
  /** Names of the targets that failed. */
  readonly missing: readonly string[];
}

/** An item that a caller may see. */
export interface VisibleItem {
  readonly owner: OwningTarget;
  /** The entry as its target lists it. */
  readonly item: ListedItem;
  /** The client's name of it. */
  readonly name: string;
}

/** Receivers of events while a list is read. */
interface ListEvents {
  /** Receives what targets send meanwhile. Returns false if they must wait. */
  readonly onMessage: (target: OwningTarget, message: Message) => boolean;
  /** Receives a name that a target has too although it belongs to an earlier one. */
  readonly onHidden: (name: string, owner: OwningTarget, other: OwningTarget) => void;
}

/**
 * Asks every target for a whole list. Rules and lock decide first, so that an item that the caller may not use hides no other
 * one of its name.
 */
export async function wholeList(
  owned: OwnedRequest,
  list: OwnedList,
  { onMessage, onHidden }: ListEvents,
): Promise<WholeList | TargetFailure> {
  const { exchange, backend, access, request, targets } = owned;
  const asked = targets.filter(({ features }) => features.includes(featureLetters[list]));
  const responses = await Promise.all(
    asked.map((each) => {
      const ask = async (own: Message): Promise<Outcome> => {
        const outcome = await outcomeOf(
          (sink) => each.call(own, sink),
          backend.timeouts.fanOut,
          (message) => onMessage(each, message),
        );
        return lacksList(outcome) ? emptyList(own, list) : outcome;
      };
      return listedItems({ ask, request }, list);
    }),
  );
  const found = new Map<string, VisibleItem>();
  const missing: string[] = [];
  const add = (owner: OwningTarget, item: ListedItem): void => {
    const { target } = owner;
    if (!isListed(access, exchange, target.name, item)) return;
    const name = clientName(backend, target, item.kind, item.name);
    const first = found.get(name)?.owner;
    if (isOmitted(owned, target, item, first === owner)) return;
    if (first === undefined) {
      checkName(exchange, target, item, name);
      found.set(name, { owner, item, name });
    } else onHidden(name, first, owner);
  };
  for (const [at, each] of asked.entries()) {
    const listed = responses[at] ?? [];
    if (!("kind" in listed)) {
      for (const item of listed) add(each, item);
      continue;
    }
    const isLast = missing.push(each.target.name) === asked.length;
    const named = failedTarget(owned, each.target, listed);
    if (backend.failureMode === "failClosed" || isLast) return named;
  }
  return { items: [...found.values()], missing: [...owned.excluded, ...missing] };
}

/** Returns the entries of a list as the client sees them, as JSON text. */
export function entriesOf(owned: OwnedRequest, { items, missing }: WholeList) {
  return { entries: items.map((each) => entryOf(owned, each)), missing };
}

/** Returns an entry of a list as the client sees it, as JSON text. */
export function entryOf(owned: OwnedRequest, { owner, item, name }: VisibleItem): string {
  const text = renamedEntry(item, name);
  return owned.backend.prefix ? withAppUris(text, owner.target.name) : text;
}

/** Whether a target has no such list, whatever its capabilities say. */
function lacksList(outcome: Outcome): boolean {
  if (outcome.kind === "failure") return false;
  const { result, text } = outcome.response;
  return result === undefined && text.includes(String(rpcCode.methodNotFound));
}

function emptyList({ id }: Message, list: OwnedList): Outcome {
  const text = rpcResult(id, `{${JSON.stringify(list)}:[]}`);
  return { kind: "response", response: ownMessage(text) };
}
