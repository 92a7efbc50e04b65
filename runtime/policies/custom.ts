import { noteCaller } from "../http/caller-identity.ts";
import type { Exchange } from "../http/exchange.ts";
import { isGrpcCall, noteRefusal, refuse } from "../http/refuse.ts";
import type { ProvidedTypes, ValueType } from "../policy/policy.ts";
import {
  type CustomPolicy,
  countCall,
  DeadlineExceeded,
  failed,
  type HookName,
  hookOutcome,
  noteHookRefusal,
  runHook,
} from "./custom/custom-policy.ts";
import { frozenCopy } from "./custom/frozen-copy.ts";
import { MadeRefusal, refusalFields } from "./custom/made-refusal.ts";
import { type KnownIdentities, RequestView } from "./custom/request-view.ts";
import { requireWatchedLanguage } from "./custom/watched-language.ts";

/** Runs the `request` hook of a policy that is not async. Returns false if the request was refused. */
export function applyCustom(
  exchange: Exchange,
  policy: CustomPolicy,
  identities?: KnownIdentities,
): boolean {
  const view = new RequestView(exchange, identities);
  try {
    const result = runHook(exchange, policy.name, "request", () =>
      policy.definition.request?.(view, policy.options),
    );
    return settle(exchange, policy, "request", result);
  } catch (error) {
    return failed(exchange, policy, "request", error);
  } finally {
    view.close();
  }
}

/** Runs the `request` hook of a policy that is async, within its deadline. Resolves with false if the request was refused. */
export async function awaitCustom(
  exchange: Exchange,
  policy: CustomPolicy,
  identities?: KnownIdentities,
): Promise<boolean> {
  const view = new RequestView(exchange, identities);
  try {
    const result = await withinDeadline(exchange, policy, view, "request", () =>
      policy.definition.request?.(view, policy.options),
    );
    return !exchange.isOver && settle(exchange, policy, "request", result);
  } catch (error) {
    return failed(exchange, policy, "request", error);
  }
}

/** Waits for a hook, at most until its deadline. Afterwards it cannot change the request any more. */
export async function withinDeadline<Result>(
  exchange: Exchange,
  { name, deadline }: CustomPolicy,
  view: RequestView,
  hook: HookName,
  call: () => Result | Promise<Result>,
): Promise<Result> {
  const span = exchange.trace?.beginStep(`custom ${name} ${hook}`);
  try {
    const pending = runHook(exchange, name, hook, call);
    const result =
      pending instanceof Promise ? await inTime(pending, deadline, () => view.abort()) : pending;
    requireWatchedLanguage();
    span?.end();
    return result;
  } catch (error) {
    span?.end(hookOutcome(error));
    throw error;
  } finally {
    view.close();
  }
}

/** Waits for a promise, at most for so many milliseconds; then calls `onTimeout` and rejects with DeadlineExceeded. */
export async function inTime<Result>(
  pending: Promise<Result>,
  deadline: number,
  onTimeout: () => void = () => {},
): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const end = performance.now() + deadline;
  const exceeded = () => new DeadlineExceeded(`took longer than ${deadline} ms`);
  const timer = setTimeout(() => {
    reject(exceeded());
    onTimeout();
  }, deadline);
  try {
    const result = await Promise.race([pending, promise]);
    // A hook that blocks the event loop finishes before the timer can run, which is rounded down to a millisecond.
    if (performance.now() > end + 1) throw exceeded();
    return result;
  } finally {
    clearTimeout(timer);
  }
}

/** Applies the result of a hook: nothing, a refusal, or values. Throws for anything else. */
function settle(
  exchange: Exchange,
  policy: CustomPolicy,
  hook: HookName,
  result: unknown,
): boolean {
  if (result === undefined && policy.definition.identity !== true) {
    countCall(exchange, policy, hook, "ok");
    return true;
  }
  if (MadeRefusal.isMade(result)) return refuseAs(exchange, policy, hook, result);
  addProvided(exchange, policy, result);
  countCall(exchange, policy, hook, "ok");
  return true;
}

/** Sends the refusal of a policy. Its own content-type counts where the message is the whole body. Returns false. */
export function refuseAs(
  exchange: Exchange,
  policy: CustomPolicy,
  hook: HookName,
  refusal: MadeRefusal,
): false {
  noteHookRefusal(exchange, policy, hook);
  const { status, message } = refusal;
  const { list, contentType } = refusalFields(refusal);
  if (
    contentType === undefined ||
    exchange.refusalFormat.protocol !== "http" ||
    isGrpcCall(exchange)
  )
    refuse(exchange, status, "Custom", message, list);
  else {
    noteRefusal(exchange, "Custom", message);
    exchange.respond(status, [...list, "content-type", contentType], message);
  }
  return false;
}

/** Makes values readable as `custom.NAME`. */
function addProvided(
  exchange: Exchange,
  { name, provides, definition }: CustomPolicy,
  values: unknown,
): void {
  if (values instanceof Promise) {
    values.catch(() => {});
    throw new TypeError("a hook that returns a promise must be declared async");
  }
  // Others, such as a Response, would be values without names.
  if (!isPlainObject(values))
    throw new TypeError("a hook returned something other than a refusal or provided values");
  const provided: Record<string, unknown> = Object.assign(
    Object.create(null),
    exchange.attributes.custom,
  );
  for (const [field, value] of Object.entries(values)) {
    const type = Object.hasOwn(provides, field) ? provides[field] : undefined;
    if (type === undefined) throw new TypeError(`"${field}" is not in provides`);
    if (value === undefined) continue;
    if (!isOfType(value, type)) throw new TypeError(`"${field}" is not of the type "${type}"`);
    provided[field] = frozenCopy(value);
  }
  const missing = definition.identity === true && absentOf(provides, values);
  if (missing) throw new TypeError(`an identity without "${missing}"`);
  exchange.attributes.custom = Object.freeze(provided);
  if (definition.identity === true) noteIdentity(exchange, name, provides, provided);
}

/** Notes who the caller is, for access lines and for what is kept for each caller: the first declared value names it. */
function noteIdentity(
  { record }: Exchange,
  policy: string,
  provides: ProvidedTypes,
  provided: Readonly<Record<string, unknown>>,
): void {
  const values = Object.keys(provides).map((each) => provided[each]);
  const own = `custom ${policy} ${JSON.stringify(values)}`;
  record.caller = record.caller === undefined ? own : `${record.caller}, ${own}`;
  noteCaller(record, { kind: "user", name: String(values[0]) });
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns the name of a declared value that is absent. */
function absentOf(provides: ProvidedTypes, values: object): string | undefined {
  return Object.keys(provides).find((name) => Reflect.get(values, name) === undefined);
}

function isOfType(value: unknown, type: ValueType): boolean {
  switch (type) {
    case "strings":
      return Array.isArray(value) && value.every((each) => typeof each === "string");
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return Number.isFinite(value);
    case "string":
    case "boolean":
      return typeof value === type;
  }
}
