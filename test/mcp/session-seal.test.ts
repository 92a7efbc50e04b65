import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  derivedKeys,
  type SessionKeys,
  sealSession,
  unsealSession,
} from "../../runtime/process/session-seal.ts";

const key: SessionKeys = [randomBytes(32)];

it("a state is unsealed only with its key and binding", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string(), (state, binding) => {
      const text = state.toWellFormed();
      const id = sealSession(key, binding, text);
      expect(id).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(unsealSession(key, binding, id)).toBe(text);
      expect(unsealSession(key, `${binding}x`, id)).toBeUndefined();
      expect(unsealSession([randomBytes(32)], binding, id)).toBeUndefined();
    }),
  );
});

it("a new key first seals, and unseals what an older key has sealed", () => {
  const [older] = key;
  const rotated: SessionKeys = [randomBytes(32), older];
  expect(unsealSession(rotated, "b", sealSession(key, "b", "s"))).toBe("s");
  expect(unsealSession(key, "b", sealSession(rotated, "b", "s"))).toBeUndefined();
  const before = sealSession(derivedKeys(key, "purpose"), "b", "s");
  expect(unsealSession(derivedKeys(rotated, "purpose"), "b", before)).toBe("s");
  expect(unsealSession(derivedKeys(rotated, "other"), "b", before)).toBeUndefined();
});

it("an id that is changed anywhere, truncated or invented is invalid", () => {
  const id = sealSession(key, "b", '{"t":[]}');
  for (let i = 0; i < id.length; i++) {
    // Bits in the middle of the alphabet: the lowest bits of the last character carry no data.
    const other = id[i] === "Z" ? "A" : "Z";
    if (i < id.length - 1)
      expect(unsealSession(key, "b", id.slice(0, i) + other + id.slice(i + 1))).toBeUndefined();
    expect(unsealSession(key, "b", id.slice(0, i))).toBeUndefined();
  }
  for (const made of ["", "=", "a b", "A".repeat(20_000), `${id}.`]) {
    expect(unsealSession(key, "b", made)).toBeUndefined();
  }
});

it("the same state never has the same id twice", () => {
  expect(sealSession(key, "b", "s")).not.toBe(sealSession(key, "b", "s"));
});
