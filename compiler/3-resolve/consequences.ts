import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { MessageCode } from "../diagnostics/messages/index.ts";

/** What may only be wrong because a part with a mistake was left out. */
const CONSEQUENCES: ReadonlySet<MessageCode> = new Set([
  ...([
    "absent-identity",
    "too-early",
    "open-proxy",
    "route-without-backend",
    "rule-without-backend",
    "no-weight",
  ] as const),
  ...(["needs-host-backend", "hostname-mismatch"] as const),
  ...(["listener-conflict", "protocol-conflict", "name-without-tls"] as const),
  ...(["tls-missing", "tls-unused"] as const),
]);

/** The same context; of something partial it does not hear what may follow from the missing parts. */
export function withoutConsequences<Context extends { readonly diagnostics: Diagnostics }>(
  context: Context,
  ...of: readonly { readonly isPartial?: boolean }[]
): Context {
  if (!of.some(({ isPartial }) => isPartial === true)) return context;
  return { ...context, diagnostics: context.diagnostics.except(CONSEQUENCES) };
}
