import { describe, expect, it } from "vitest";
import { missingSymbols, namingTexts } from "./runtime-symbols.ts";

describe("templates and the compiler", () => {
  const texts = namingTexts();

  it("name modules of the runtime that exist, and symbols that these export", () => {
    expect(missingSymbols(texts)).toEqual([]);
  });

  it.each([
    ["templates/policies/cors.ts", '"applyCors"', '"applyCor"', "no applyCor in"],
    ["templates/policies/cors.ts", "runtime/policies/cors", "runtime/policies/core", "no gwc/"],
    [
      "templates/backends/parts/cloud-credentials.ts",
      "${AZURE}/",
      "${AZURE}s/",
      "in gwc/runtime/auth/azures/",
    ],
    ["templates/policies/jwt-auth.ts", '"requireJwt"', '"requiresJwt"', "no requiresJwt in"],
    ["templates/policies/api-key.ts", '"keyFile"', '"keysFile"', "no keysFile in"],
    ["compiler/cel/emit/emit.ts", "types#TypeValue", "types#Type", "no values/types#Type"],
    ["compiler/inspect/tests/trial-program.ts", "openTrials }", "openTrial }", "no openTrial in"],
  ])("fail this law if %s has %s as %s", (file, before, after, message) => {
    const text = texts.get(file)?.replace(before, after) ?? "";
    const found = missingSymbols(new Map([[file, text]]));
    expect(found.join("\n")).toContain(message);
  });
});
