import type { Diagnostics } from "../diagnostics/diagnostic.ts";
import type { MessageCode } from "../diagnostics/messages/index.ts";

/** Messages that may only be consequences of an omitted part with a mistake. */
const CONSEQUENCES: ReadonlySet<MessageCode> = new Set([
  ...([
    "absent-identity",
    "too-early",
    "open-proxy",
    "route-without-backend",
    "rule-without-backend",
    "no-weight",
    "no-targets",
  ] as const),
  ...(["needs-host-backend", "hostname-mismatch"] as const),
  ...(["listener-conflict", "protocol-conflict", "name-without-tls"] as const),
  ...(["tls-missing", "tls-unused", "connection-without-user"] as const),
]);

/** Returns a context that suppresses possible consequences if any of the parts is partial. */
export function withoutConsequences<Context extends { readonly diagnostics: Diagnostics }>(
  context: Context,
  ...of: readonly { readonly isPartial?: boolean }[]
): Context {
  if (!of.some(({ isPartial }) => isPartial === true)) return context;
  return { ...context, diagnostics: context.diagnostics.except(CONSEQUENCES) };
}
