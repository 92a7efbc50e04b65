import type { GuardStep } from "./prompt-guard.ts";
import type { GuardVerdict, TextGuard } from "./server-guard.ts";
import { ServerGuardStep } from "./server-step.ts";

/** Characters of a stream that hooks read at once. */
const WINDOW = 1024;

/** Runs the hooks that policies of the route have added to the exchange, one after another. */
export function hookGuard(): GuardStep {
  return new ServerGuardStep(HOOKS);
}

const HOOKS: TextGuard = {
  kind: "custom",
  reason: "Custom",
  window: WINDOW,
  passesOnFailure: false,
  rejection: { status: 500, message: "internal error" },
  async check({ texts, run: { phase, exchange } }): Promise<GuardVerdict> {
    let verdict: GuardVerdict = { kind: "pass" };
    let seen = texts;
    for (const hook of exchange?.attributes.textHooks ?? []) {
      const made = await hook(phase, seen);
      if (made.kind === "reject") return made;
      if (made.kind === "pass") continue;
      verdict = made;
      seen = texts.map(({ role, text }, index) => ({ role, text: made.texts[index] ?? text }));
    }
    return verdict;
  },
};
