import { expect, inject } from "vitest";
import { plainRuntime } from "../../compiler/4-emit/check/runtime-modules.ts";
import { typeFindings } from "../../compiler/4-emit/check/type-checker.ts";
import { allCachedFiles } from "../harness/bundle-cache.ts";
import { itUnless } from "../harness/skip.ts";

// It runs after all others (vitest.config.ts): a check for each of their gateways would take minutes.
const compiled = [...allCachedFiles(inject("sourceDigest"))];

itUnless(compiled.length === 0 ? "no other test compiled anything in this run" : undefined)(
  "whatever the other tests compiled type-checks, as a build would check it",
  async () => {
    // Policies in TypeScript have types of their own, which test/policies/custom-mistakes.test.ts checks.
    const generated = compiled.filter(
      ([, files]) => !files.some(({ path }) => path.startsWith("policies/")),
    );
    const modules = generated.flatMap(([key, files]) =>
      files
        .filter(({ path }) => path.endsWith(".ts"))
        .map(({ path, text }) => ({ path: `${key}/${path}`, text })),
    );
    expect(await typeFindings(modules, modules, plainRuntime())).toEqual([]);
  },
);
