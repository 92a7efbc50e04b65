import type { ItemList } from "../protocol/item-lists.ts";
import { type Message, ownMessage } from "../protocol/message.ts";
import { addressedPrimitive } from "../protocol/primitives.ts";
import { rpcCode, rpcResult } from "../protocol/rpc-response.ts";
import type { Outcome, TargetFailure } from "../protocol/target-failure.ts";
import { isListed } from "../rules/authorization.ts";
import { type ListedDefinition, listedItems } from "../rules/lock-check.ts";
import { featureLetters } from "../session/session.ts";
import {
  type ActiveTarget,
  activeTargets,
  callTarget,
  type SessionContext,
} from "../session/session-context.ts";
import type { McpBackend } from "../transports/backend.ts";
import { outcomeOf } from "../transports/fan-out.ts";

/** Items of all targets without prefixes, each once. */
export interface OwnedItems {
  /** Definitions as JSON text, in the order of the targets. */
  readonly entries: readonly string[];
  /** Names of the targets that failed. */
  readonly missing: readonly string[];
}

/** Returns the list that decides which target a request is for; `undefined` if its name or method decides. */
export function ownerList(
  { owners }: McpBackend,
  request: Message,
): "tools" | "prompts" | undefined {
  if (owners === undefined || request.kind !== "request") return undefined;
  const addressed = addressedPrimitive(request);
  return addressed?.kind === "item" ? owners.listOf(addressed.item.kind) : undefined;
}

/**
 * Asks every target for a whole list, and caches which target owns each visible item for this caller. Rules and lock decide
 * first, so that an item that the caller may not use hides no other one. `onMessage` receives what targets send meanwhile.
 */
export async function askOwners(
  context: SessionContext,
  request: Message,
  list: ItemList,
  onMessage: (active: ActiveTarget, message: Message) => boolean,
): Promise<OwnedItems | TargetFailure> {
  const { exchange, backend, access } = context;
  const { owners, timeouts, failureMode } = backend;
  const feature = featureLetters[list === "prompts" ? "prompts" : "tools"];
  const asked = activeTargets(context).filter(({ session }) => session.features.includes(feature));
  const responses = await Promise.all(
    asked.map((active) => {
      const ask = async (own: Message): Promise<Outcome> => {
        const send = (sink: Parameters<typeof callTarget>[3]) =>
          callTarget(context, active, own, sink);
        const outcome = await outcomeOf(send, timeouts.fanOut, (message) =>
          onMessage(active, message),
        );
        return lacksList(outcome) ? emptyList(own, list) : outcome;
      };
      return listedItems({ ask, request }, list);
    }),
  );
  const found = new Map<string, number>();
  const entries: string[] = [];
  const missing: string[] = [];
  const add = ({ index, target }: ActiveTarget, item: ListedDefinition): void => {
    if (!isListed(access, exchange, target.name, item)) return;
    const owner = found.get(item.name);
    if (owner === undefined) {
      found.set(item.name, index);
      entries.push(item.text);
    } else if (owner !== index) {
      const first = backend.targets[owner]?.name ?? "";
      owners?.warn({ exchange, jwt: access.jwt }, list, item.name, [first, target.name]);
    }
  };
  for (const [at, active] of asked.entries()) {
    const listed = responses[at] ?? [];
    if (!("kind" in listed)) {
      for (const item of listed) add(active, item);
      continue;
    }
    const isLast = missing.push(active.target.name) === asked.length;
    if (failureMode === "failClosed" || isLast)
      return { ...listed, detail: `${active.target.name}: ${listed.detail}` };
  }
  owners?.store({ exchange, jwt: access.jwt }, list, found);
  return { entries, missing };
}

/** Whether a target has no such list, whatever its capabilities say. */
function lacksList(outcome: Outcome): boolean {
  if (outcome.kind === "failure") return false;
  const { result, text } = outcome.response;
  return result === undefined && text.includes(String(rpcCode.methodNotFound));
}

function emptyList({ id }: Message, list: ItemList): Outcome {
  const text = rpcResult(id, `{${JSON.stringify(list)}:[]}`);
  return { kind: "response", response: ownMessage(text) };
}
