import type { TextPart } from "../../../runtime/llm/chat/whole-texts.ts";
import type { ChangeDirection, SettingsChange } from "../../model/access.ts";
import { shownText } from "../../model/texts.ts";
import { patternText } from "./guard-text.ts";
import type { GuardNode } from "./guards.ts";

/** Compares what the guards of a phase (`requests`) do: per pattern and external guard, and in which order. */
export function guardChanges(
  phase: string,
  before: readonly GuardNode[],
  after: readonly GuardNode[],
): readonly SettingsChange[] {
  const [old, now] = [effectsOf(before), effectsOf(after)];
  const alike = new Map<string, { direction: ChangeDirection; names: string[] }>();
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [from, to] = [old.get(name), now.get(name)];
    const words = (to ?? from)?.words ?? PATTERN_WORDS;
    const direction = directionOf(from?.parts ?? NOWHERE, to?.parts ?? NOWHERE);
    if (direction === undefined) continue;
    const text = [from, to].map((each) => effectText(words, each?.parts ?? NOWHERE)).join(" -> ");
    const found = alike.get(text) ?? { direction, names: [] };
    found.names.push(name);
    alike.set(text, found);
  }
  return [
    ...[...alike].map(([text, { direction, names }]) => ({
      direction,
      text: `${phase}: ${names.join(", ")}: ${text}`,
    })),
    ...(isReordered(before.flatMap(namesOf), after.flatMap(namesOf))
      ? [{ direction: "changes" as const, text: `${phase}: guards in another order` }]
      : []),
  ];
}

/** Effect of the guards for one pattern or external guard. */
interface Effect {
  readonly words: readonly string[];
  /** Strength by part of the request. */
  readonly parts: Map<TextPart, number>;
}

/** Actions by increasing strength. */
const PATTERN_WORDS = ["passed", "masked", "rejected"];
const SERVER_WORDS = ["not called", "called, passed on failure", "called"];
const [WEAK, STRONG] = [1, 2];
const PARTS: readonly TextPart[] = ["systemPrompt", "messages", "toolInput", "toolOutput"];
const NOWHERE: Effect["parts"] = new Map();

/** Returns the strongest effect of all guards for each pattern and external guard. */
function effectsOf(guards: readonly GuardNode[]): ReadonlyMap<string, Effect> {
  const effects = new Map<string, Effect>();
  for (const guard of guards)
    for (const name of namesOf(guard)) {
      const words = guard.kind === "regex" ? PATTERN_WORDS : SERVER_WORDS;
      const effect = effects.get(name) ?? { words, parts: new Map() };
      for (const part of guard.scope ?? PARTS)
        effect.parts.set(part, Math.max(effect.parts.get(part) ?? 0, strengthOf(guard)));
      effects.set(name, effect);
    }
  return effects;
}

/** Returns the patterns of a guard, or its server. */
export function namesOf(guard: GuardNode): readonly string[] {
  if (guard.kind === "regex") return guard.patterns.map(patternText);
  return [`${guard.kind} of ${shownText(guard.target.url)}`];
}

function strengthOf(guard: GuardNode): number {
  const isWeak = guard.kind === "regex" ? guard.rejection === undefined : guard.passesOnFailure;
  return isWeak ? WEAK : STRONG;
}

function effectText(words: readonly string[], parts: Effect["parts"]): string {
  const word = (part: TextPart | undefined) => words[(part && parts.get(part)) ?? 0] ?? "";
  const places = PARTS.filter((part) => parts.has(part));
  const [first] = places;
  if (places.some((part) => word(part) !== word(first)))
    return places.map((part) => `${word(part)} in ${part}`).join(", ");
  const isEverywhere = places.length === 0 || places.length === PARTS.length;
  return isEverywhere ? word(first) : `${word(first)} in ${places.join(", ")}`;
}

function directionOf(from: Effect["parts"], to: Effect["parts"]): ChangeDirection | undefined {
  const steps = PARTS.map((part) => Math.sign((to.get(part) ?? 0) - (from.get(part) ?? 0)));
  if (steps.every((step) => step === 0)) return undefined;
  if (steps.every((step) => step <= 0)) return "opens";
  return steps.every((step) => step >= 0) ? "closes" : "changes";
}

function isReordered(before: readonly string[], after: readonly string[]): boolean {
  const isOther = before.join("\n") !== after.join("\n");
  return isOther && before.toSorted().join("\n") === after.toSorted().join("\n");
}

/** Returns the settings of a guard that its effects do not cover. */
export function guardRest(guard: GuardNode, isRejectionMeant: boolean): object {
  if (guard.kind !== "regex") return { ...guard, scope: undefined, passesOnFailure: undefined };
  const { patterns } = guard;
  const rejection = isRejectionMeant ? guard.rejection : undefined;
  const longest = patterns.map((each) => (each.kind === "own" && each.isOpen ? each.longest : 0));
  return { rejection, window: Math.max(...longest) };
}
