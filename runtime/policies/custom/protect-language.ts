import { MadeRefusal } from "./made-refusal.ts";
import { EditableHeaders } from "./policy-headers.ts";
import { RequestView } from "./request-view.ts";
import { WATCHED_OF_ARRAYS } from "./watched-language.ts";

/**
 * Makes the objects of the language and of Web standards immutable, so that no policy can change what other policies and the
 * gateway use: `Array.prototype.map`, `Object.prototype`, `JSON.parse`. `usesFetch`: whether a policy
 * names `fetch` or one of its classes. `withCompiler`: whether a compiler runs in the process, which makes functions of texts.
 *
 * V8 must not become slower by that. It keeps its assumptions about prototypes that are frozen, but stores into arrays become slow
 * if `Object.prototype` or `Array.prototype` is frozen. These two are sealed, and their members are accessors. Patterns become slow
 * by any change of `RegExp.prototype`, so it stays as it is (watched-language.ts).
 */
export function protectLanguage({
  usesFetch,
  withCompiler = false,
}: {
  readonly usesFetch: boolean;
  readonly withCompiler?: boolean;
}): void {
  const frozen = new Set<unknown>();
  if (Object.isExtensible(Object.prototype)) {
    for (const each of functionConstructors()) disarm(each);
    if (!withCompiler) {
      const { constructor: inert } = Object.getPrototypeOf(disarm);
      for (const name of ["eval", "Function"])
        Object.defineProperty(globalThis, name, { value: inert });
    }
    hideStreams();
    const hidden = permitOverrides();
    for (const prototype of SEALED) Object.seal(prototype);
    freezeNamed([...LANGUAGE, ...WEB], frozen);
    for (const root of [...hidden, ...hiddenPrototypes(), ...OWN]) freezeAll(root, frozen);
  }
  if (usesFetch) freezeNamed(OF_FETCH, frozen);
}

/** Prototypes that are not frozen. */
const SEALED: readonly unknown[] = [Object.prototype, Array.prototype];
const UNCHANGED: readonly unknown[] = [...SEALED, RegExp.prototype];

/** Classes of the gateway whose objects policies get. */
const OWN = [RequestView, EditableHeaders, MadeRefusal];

/** Objects of the language that a policy can name. */
const LANGUAGE = [
  ...["Object", "Function", "Array", "Number", "String", "Boolean", "Symbol", "BigInt", "Date"],
  ...["RegExp", "Promise", "Map", "Set", "WeakMap", "WeakSet", "WeakRef", "FinalizationRegistry"],
  ...["Error", "AggregateError", "EvalError", "RangeError", "ReferenceError", "SyntaxError"],
  ...["TypeError", "URIError", "ArrayBuffer", "SharedArrayBuffer", "DataView", "Int8Array"],
  ...["Uint8Array", "Uint8ClampedArray", "Int16Array", "Uint16Array", "Int32Array", "Uint32Array"],
  ...["Float32Array", "Float64Array", "BigInt64Array", "BigUint64Array", "Float16Array", "Proxy"],
  ...["Iterator", "Math", "JSON", "Reflect", "Atomics", "Intl", "parseInt", "parseFloat", "isNaN"],
  ...["isFinite", "encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent"],
  ...["WebAssembly", "escape", "unescape", "DisposableStack", "AsyncDisposableStack"],
  ...["SuppressedError"],
];

/** The same of Web standards. */
const WEB = [
  ...["AbortController", "AbortSignal", "Blob", "ByteLengthQueuingStrategy", "CompressionStream"],
  ...["CountQueuingStrategy", "Crypto", "CryptoKey", "CustomEvent", "DOMException", "crypto"],
  ...["DecompressionStream", "Event", "EventTarget", "File", "MessageChannel", "MessagePort"],
  ...["ReadableByteStreamController", "ReadableStream", "ReadableStreamBYOBReader"],
  ...["ReadableStreamBYOBRequest", "ReadableStreamDefaultController"],
  ...["ReadableStreamDefaultReader", "SubtleCrypto", "TextDecoder", "TextDecoderStream"],
  ...["TextEncoder", "TextEncoderStream", "TransformStream", "TransformStreamDefaultController"],
  ...["URL", "URLPattern", "URLSearchParams", "WritableStream", "WritableStreamDefaultController"],
  ...["WritableStreamDefaultWriter", "atob", "btoa", "clearInterval", "clearTimeout", "console"],
  ...["performance", "queueMicrotask", "setInterval", "setTimeout", "structuredClone"],
];

/** The same, which Node.js loads when they are first used: that takes 17 MB. */
const OF_FETCH = [
  ...["fetch", "Headers", "Request", "Response", "FormData", "WebSocket", "EventSource"],
  ...["MessageEvent", "CloseEvent"],
];

/** Properties that Node.js sets itself; policies cannot harm anything by them. */
const WRITABLE: ReadonlySet<unknown> = new Set(["stackTraceLimit"]);

/** Returns prototypes that have no name: of iterators, generators and async functions. */
function hiddenPrototypes(): readonly unknown[] {
  const text = "";
  return [
    ...functionConstructors().map(({ prototype }) => prototype),
    ...[[].values(), new Map().values(), new Set().values(), text.matchAll(/./g)].map(prototypeOf),
    ...[text[Symbol.iterator](), [].values().map(String), Iterator.from({ next })].map(prototypeOf),
    prototypeOf(setTimeout(() => {}, 0).unref()),
  ];
}

const next = () => ({ done: true, value: undefined }) as const;

/** Returns the constructors that make functions of texts. */
function functionConstructors(): readonly { readonly prototype: unknown }[] {
  return [() => {}, async () => {}, function* () {}, async function* () {}].map(
    (each) => each.constructor,
  );
}

function prototypeOf(value: object): unknown {
  return Object.getPrototypeOf(value);
}

/** Replaces a constructor that makes functions of texts, where functions name it: policies could run any text with it. */
function disarm({ prototype }: { readonly prototype: unknown }): void {
  if (typeof prototype !== "object" && typeof prototype !== "function") return;
  const old: { readonly name: string } = Reflect.get(Object(prototype), "constructor");
  const inert = () => {
    throw new TypeError("text cannot become a function");
  };
  Object.defineProperties(inert, { name: { value: old.name }, prototype: { value: prototype } });
  Object.defineProperty(prototype, "constructor", { value: inert, configurable: true });
}

/**
 * Replaces the console by its functions alone. The streams of the one of Node.js lead to their classes, which open files and
 * connections.
 */
function hideStreams(): void {
  const functions = Object.entries(console).filter(
    ([name, own]) => typeof own === "function" && name !== "Console",
  );
  Object.defineProperty(globalThis, "console", { value: Object.fromEntries(functions) });
}

/**
 * Lets assignments to objects shadow properties of immutable prototypes. A property that is only read-only would also refuse
 * `error.name = "Timeout"`, and `counts["toString"] = 1`. Returns the values of these properties.
 */
function permitOverrides(): readonly unknown[] {
  const errors = LANGUAGE.filter((name) => name.endsWith("Error"));
  const prototypes: readonly object[] = [
    ...[Object.prototype, Function.prototype],
    ...errors.flatMap((name) => Reflect.get(globalThis, name)?.prototype ?? []),
  ];
  const named = prototypes.flatMap((prototype) =>
    Object.getOwnPropertyNames(prototype).map((name) => permitOverride(prototype, name)),
  );
  const ofArrays = Reflect.ownKeys(Array.prototype)
    .filter((key) => !WATCHED_OF_ARRAYS.has(key))
    .map((key) => permitOverride(Array.prototype, key));
  // Node.js sets it on streams.
  for (const name of WEB) {
    const prototype: unknown = Reflect.get(Object(Reflect.get(globalThis, name)), "prototype");
    if (typeof prototype === "object" && prototype !== null)
      permitOverride(prototype, "constructor");
  }
  return [...named, ...ofArrays];
}

/** Makes a property of a prototype an accessor, and returns its value. */
function permitOverride(prototype: object, name: PropertyKey): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name);
  if (descriptor === undefined || !("value" in descriptor) || !descriptor.configurable)
    return undefined;
  const { value }: { readonly value?: unknown } = descriptor;
  Object.defineProperty(prototype, name, {
    get: () => value,
    set(given: unknown) {
      if (this === prototype)
        throw new TypeError(`"${String(name)}" is part of the language, and cannot be changed`);
      Object.defineProperty(this, name, {
        ...{ value: given, writable: true, enumerable: true, configurable: true },
      });
    },
    enumerable: descriptor.enumerable ?? false,
    configurable: true,
  });
  return value;
}

/** Freezes global objects. */
function freezeNamed(names: readonly string[], frozen: Set<unknown>): void {
  for (const name of names) freezeAll(Reflect.get(globalThis, name), frozen);
}

/** Freezes an object and all functions and prototypes that it leads to. */
function freezeAll(root: unknown, frozen: Set<unknown>): void {
  const pending = [root];
  for (
    let value = pending.pop();
    value !== undefined || pending.length > 0;
    value = pending.pop()
  ) {
    if ((typeof value !== "object" && typeof value !== "function") || value === null) continue;
    if (frozen.has(value)) continue;
    frozen.add(value);
    pending.push(Object.getPrototypeOf(value));
    const descriptors = Object.getOwnPropertyDescriptors(value);
    for (const key of Reflect.ownKeys(descriptors)) {
      const { value: own, get, set } = Reflect.get(descriptors, key);
      // Objects in other members are state of Node.js, such as the streams of the console.
      const isPart = typeof own === "function" || key === "prototype" || value === Intl;
      pending.push(get, set, ...(isPart ? [own] : []));
    }
    if (!UNCHANGED.includes(value)) freezeParts(value, descriptors);
  }
}

/** Freezes an object. Members that Node.js keeps state in stay writable. */
function freezeParts(value: object, descriptors: PropertyDescriptorMap): void {
  const keys = Reflect.ownKeys(descriptors);
  const isState = (key: PropertyKey) => {
    const { value: own, writable }: PropertyDescriptor = Reflect.get(descriptors, key);
    return (
      writable === true &&
      (WRITABLE.has(key) || (typeof key === "symbol" && typeof own !== "function"))
    );
  };
  if (!keys.some(isState)) {
    Object.freeze(value);
    return;
  }
  Object.preventExtensions(value);
  for (const key of keys) {
    const descriptor: PropertyDescriptor = Reflect.get(descriptors, key);
    if (isState(key) || descriptor.configurable === false) continue;
    const own = "value" in descriptor ? { writable: false } : {};
    Object.defineProperty(value, key, { ...own, configurable: false });
  }
}
