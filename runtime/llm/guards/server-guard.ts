import type { Upstream } from "../../http/upstream/upstream.ts";
import { Callout } from "../../telemetry/callout.ts";
import type { TextPart } from "../chat/whole-texts.ts";
import type { RoleText } from "./gathered-texts.ts";
import type { Guard } from "./guard.ts";
import type { GuardRejection, GuardRun } from "./guard-run.ts";

/** A guard that asks a server. */
export interface ServerGuard extends Guard, ServerGuardSettings {
  /** Rejects when the server says nothing that makes sense, or nothing in time. */
  ask(question: GuardQuestion): Promise<GuardVerdict>;
}

/** Where a guard's server is, and for how long it is waited for. */
export interface GuardServer {
  readonly server: Upstream;
  /** Milliseconds. */
  readonly deadline: number;
}

/** What of such a guard is the configuration's, whatever it speaks. */
export interface ServerGuardSettings extends GuardServer {
  /** Which texts of requests it is asked about; absent: all. */
  readonly scope?: readonly TextPart[];
  /** Characters of a stream that it is asked about at once. */
  readonly window: number;
  /** Texts pass when it can't be asked. */
  readonly passesOnFailure: boolean;
  /** What clients get for what it rejects, unless it says so itself. */
  readonly rejection: GuardRejection;
}

/** What a server is asked. */
export interface GuardQuestion {
  readonly texts: readonly RoleText[];
  readonly run: GuardRun;
  /** Records it; undefined: nobody does. */
  readonly callout: Callout | undefined;
}

/** What a server says of texts. */
export type GuardVerdict =
  | { readonly kind: "pass" }
  /** The texts in the place of those that it was asked about. */
  | { readonly kind: "mask"; readonly texts: readonly string[] }
  /** What it says itself of the response to the client stands in the place of the configuration's. */
  | { readonly kind: "reject"; readonly status?: number; readonly message?: string };

/** The texts in the place of these; undefined: these pass, or nothing does, as the run then says. */
export async function guardTexts(
  guard: ServerGuard,
  texts: readonly RoleText[],
  run: GuardRun,
): Promise<readonly string[] | undefined> {
  if (texts.length === 0) return undefined;
  const outcome = run.outcomeOf(guard);
  const start = performance.now();
  const callout =
    run.exchange && new Callout(run.exchange, "promptGuard", guard.server.name, "POST");
  if (run.exchange !== undefined) callout?.cancelWith(run.exchange.onAbort.bind(run.exchange));
  const question = { texts, run, callout };
  const verdict = await guard.ask(question).catch(() => undefined);
  run.spend(guard, performance.now() - start);
  if (verdict === undefined || !fits(verdict, texts)) {
    callout?.end("failed", "no_verdict");
    if (guard.passesOnFailure) outcome.action = "passed";
    else run.fail(guard);
    return undefined;
  }
  callout?.end(verdict.kind === "reject" ? "denied" : "ok");
  if (verdict.kind === "reject") {
    const { status = guard.rejection.status, message } = verdict;
    const own = message === undefined ? guard.rejection : { message };
    run.reject(guard, { ...own, status });
  }
  if (verdict.kind !== "mask") return undefined;
  const matches = verdict.texts.filter((text, index) => text !== texts[index]?.text).length;
  if (matches > 0) run.match(guard, matches);
  return verdict.texts;
}

/** A mask has a text for each that was asked about. */
function fits(verdict: GuardVerdict, { length }: readonly RoleText[]): boolean {
  return verdict.kind !== "mask" || verdict.texts.length === length;
}
