// Taken before any policy is loaded (startup.ts of a gateway imports this first).
const { constructor: arrays } = Array.prototype;
const iterate = Array.prototype[Symbol.iterator];
const patterns = RegExp.prototype;
const { exec, test } = patterns;
const [match, matchAll, replace, search, split] = [
  patterns[Symbol.match],
  patterns[Symbol.matchAll],
  patterns[Symbol.replace],
  patterns[Symbol.search],
  patterns[Symbol.split],
];

/**
 * Restores the members of `Array.prototype` and of `RegExp.prototype` that cannot be made read-only, and throws if they were
 * changed: V8 runs arrays and patterns many times slower as soon as these members are redefined, even with the same value. It is
 * called after each hook.
 */
export function requireWatchedLanguage(): void {
  const array = Array.prototype;
  if (
    array.constructor === arrays &&
    array[Symbol.iterator] === iterate &&
    patterns.exec === exec &&
    patterns.test === test &&
    patterns[Symbol.match] === match &&
    patterns[Symbol.matchAll] === matchAll &&
    patterns[Symbol.replace] === replace &&
    patterns[Symbol.search] === search &&
    patterns[Symbol.split] === split
  )
    return;
  Object.assign(array, { constructor: arrays, [Symbol.iterator]: iterate });
  Object.assign(patterns, {
    ...{ exec, test },
    ...{ [Symbol.match]: match, [Symbol.matchAll]: matchAll, [Symbol.replace]: replace },
    ...{ [Symbol.search]: search, [Symbol.split]: split },
  });
  throw new TypeError("the policy changed Array.prototype or RegExp.prototype, which all share");
}

/** Members of arrays that are watched instead. */
export const WATCHED_OF_ARRAYS: ReadonlySet<PropertyKey> = new Set([
  "constructor",
  Symbol.iterator,
]);
