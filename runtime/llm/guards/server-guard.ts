import type { RoleText, TextVerdict } from "../../http/exchange.ts";
import type { Upstream } from "../../http/upstream/upstream.ts";
import { Callout } from "../../telemetry/callout.ts";
import type { TextPart } from "../chat/whole-texts.ts";
import type { Guard, GuardRejection, GuardRun } from "./guard-run.ts";

/** A guard that decides on texts as a whole, by calling a server or code. */
export interface TextGuard extends Guard, TextGuardSettings {
  /** Its server; absent if it calls none. */
  readonly server?: Upstream;
  /** Rejects on invalid responses and timeouts. */
  check(input: GuardInput): Promise<GuardVerdict>;
}

/** A guard's server, and its timeout. */
export interface GuardServer {
  readonly server: Upstream;
  /** Milliseconds. */
  readonly deadline: number;
}

/** Common settings of guards with servers. */
export interface ServerGuardSettings extends GuardServer, TextGuardSettings {}

/** Common settings of guards that decide on texts as a whole. */
interface TextGuardSettings {
  /** Parts of requests that it reads; absent: all. */
  readonly scope?: readonly TextPart[];
  /** Characters of a stream that it reads at once. */
  readonly window: number;
  /** Whether texts pass if it is unavailable. */
  readonly passesOnFailure: boolean;
  /** Response to rejected texts, unless the server provides one. */
  readonly rejection: GuardRejection;
}

/** Request to a guard's server. */
export interface GuardInput {
  readonly texts: readonly RoleText[];
  readonly run: GuardRun;
  /** Records the call; `undefined` if it is not recorded. */
  readonly callout: Callout | undefined;
}

/** Verdict of a guard. */
export type GuardVerdict = TextVerdict;

/** Returns replacements of the texts; `undefined` if they pass unchanged, or are rejected, which the run records. */
export async function guardTexts(
  guard: TextGuard,
  texts: readonly RoleText[],
  run: GuardRun,
): Promise<readonly string[] | undefined> {
  if (texts.length === 0) return undefined;
  const outcome = run.outcomeOf(guard);
  const start = performance.now();
  const { server } = guard;
  const callout =
    run.exchange && server && new Callout(run.exchange, "promptGuard", server.name, "POST");
  if (run.exchange !== undefined) callout?.cancelWith(run.exchange.onAbort.bind(run.exchange));
  const input = { texts, run, callout };
  const verdict = await guard.check(input).catch(() => undefined);
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

/** Whether a mask has a text for each that was sent. */
function fits(verdict: GuardVerdict, { length }: readonly RoleText[]): boolean {
  return verdict.kind !== "mask" || verdict.texts.length === length;
}
