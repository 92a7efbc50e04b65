import type { CallerIdentity, ExchangeRecord } from "./exchange.ts";

/** Notes a verified caller of a request. */
export function noteCaller(record: ExchangeRecord, caller: CallerIdentity): void {
  record.callers = [...(record.callers ?? []), caller];
}

/** Notes the subject of verified claims, if they have one. */
export function noteSubject(
  record: ExchangeRecord,
  { sub, iss }: Readonly<Record<string, unknown>>,
): void {
  if (typeof sub !== "string" || sub === "") return;
  noteCaller(record, { kind: "jwt", name: sub, issuer: typeof iss === "string" ? iss : undefined });
}

/** Returns the subject, else the name of the API key, else the user of the password; `undefined` if none is known. */
export function callerName({ callers }: ExchangeRecord): string | undefined {
  return callers === undefined ? undefined : firstOf(callers, ["jwt", "key", "user"])?.name;
}

/** Returns who pays for a call: the API key, else the subject or the user; `undefined` if none is known. */
export function payingCaller({ callers = [] }: ExchangeRecord): CallerIdentity | undefined {
  return firstOf(callers, ["key", "key-digest", "jwt", "user"]);
}

function firstOf(
  callers: readonly CallerIdentity[],
  kinds: readonly CallerIdentity["kind"][],
): CallerIdentity | undefined {
  for (const kind of kinds) {
    const found = callers.find((each) => each.kind === kind);
    if (found !== undefined) return found;
  }
  return undefined;
}
