import { randomBytes } from "node:crypto";
import type { SessionCall } from "./session-call.ts";

/** Maximum number of calls that wait for a response of the reader. */
const MAX_CALLS = 16;
/** Milliseconds after which a call without a response of the reader ends. */
const LONGEST = 300_000;

/** Calls whose servers wait for a response of the reader, by its state. */
export class AskingCalls {
  readonly #calls = new Map<string, { readonly call: SessionCall; readonly end: NodeJS.Timeout }>();

  /** Adds a call to a route, and returns its state. The oldest call ends if there are too many. */
  add(route: string, call: SessionCall): string {
    const state = randomBytes(24).toString("base64url");
    const key = keyOf(route, state);
    const end = setTimeout(() => this.#end(key), LONGEST).unref();
    this.#calls.set(key, { call, end });
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > MAX_CALLS && oldest !== undefined) this.#end(oldest);
    return state;
  }

  /** Returns a call to a route by its state, which is valid once; `undefined` if it has ended. */
  take(route: string, state: string): SessionCall | undefined {
    const key = keyOf(route, state);
    const found = this.#calls.get(key);
    clearTimeout(found?.end);
    this.#calls.delete(key);
    return found?.call;
  }

  /** Ends all calls. */
  close(): void {
    for (const key of this.#calls.keys()) this.#end(key);
  }

  #end(key: string): void {
    const found = this.#calls.get(key);
    clearTimeout(found?.end);
    this.#calls.delete(key);
    void found?.call.end();
  }
}

function keyOf(route: string, state: string): string {
  return JSON.stringify([route, state]);
}
