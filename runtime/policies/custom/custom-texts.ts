import type { Exchange, TextHook, TextVerdict } from "../../http/exchange.ts";
import { withinDeadline } from "../custom.ts";
import { type CustomPolicy, countCall, noteHookFailure, noteHookRefusal } from "./custom-policy.ts";
import { MadeRefusal } from "./made-refusal.ts";
import { type KnownIdentities, RequestView } from "./request-view.ts";

/** Shows the texts of a model call to the `prompt` and `completion` hooks of a policy, once they are known. */
export function showTexts(
  exchange: Exchange,
  policy: CustomPolicy,
  identities?: KnownIdentities,
): void {
  const read: TextHook = (phase, texts) => {
    const hook = phase === "request" ? "prompt" : "completion";
    const view = new RequestView(exchange, identities).close();
    return readTexts(exchange, policy, { view, hook, texts });
  };
  exchange.attributes.textHooks = [...(exchange.attributes.textHooks ?? []), read];
}

interface Reading {
  readonly view: RequestView;
  readonly hook: "prompt" | "completion";
  readonly texts: Parameters<TextHook>[1];
}

async function readTexts(
  exchange: Exchange,
  policy: CustomPolicy,
  { view, hook, texts }: Reading,
): Promise<TextVerdict> {
  const { definition, options } = policy;
  if (definition[hook] === undefined) return { kind: "pass" };
  try {
    const shown = texts.map(({ role, text }) => ({ role, text }));
    const made = await withinDeadline(exchange, policy, view, hook, () =>
      definition[hook]?.({ texts: shown }, options, view),
    );
    if (MadeRefusal.isMade(made)) {
      noteHookRefusal(exchange, policy, hook);
      return { kind: "reject", status: made.status, message: made.message };
    }
    const given = made === undefined ? undefined : replacements(made, texts.length);
    countCall(exchange, policy, hook, "ok");
    return given === undefined ? { kind: "pass" } : { kind: "mask", texts: given };
  } catch (error) {
    noteHookFailure(exchange, policy, hook, error);
    if (policy.passesOnFailure) return { kind: "pass" };
    return { kind: "reject", status: 500, message: "internal error" };
  }
}

/** Returns the texts that a hook returned. Throws if it returned something else, or another number of texts. */
function replacements(made: unknown, count: number): readonly string[] {
  const areTexts = Array.isArray(made) && made.every((each) => typeof each === "string");
  if (!areTexts) throw new TypeError("a hook for texts returned something other than strings");
  if (made.length !== count)
    throw new TypeError(`a hook for texts returned ${made.length} texts instead of ${count}`);
  return made;
}
