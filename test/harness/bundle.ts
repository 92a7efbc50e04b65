import { createHash } from "node:crypto";
import { inject } from "vitest";
import type { OutputFile } from "../../compiler/4-emit/write.ts";
import { cachedFiles, cacheFiles } from "./bundle-cache.ts";

/** A configuration, and the files that it names. */
export interface Configuration {
  /** A standalone file or manifests: YAML text, or a value (JSON is YAML). */
  readonly config: string | object;
  /** Further files by their paths. The build reads them; those that the gateway reads are in its folder. */
  readonly files?: Readonly<Record<string, string>>;
}

/**
 * Returns the output of `gwc build` for a configuration. Ports of a test are new in each run, so they are inserted
 * after compilation, and the same gateway on other ports comes from the cache. Types are not checked here: the last
 * test of the suite checks everything that the suite compiled (test/compiler/generated-types.test.ts).
 */
export async function bundle({
  config,
  files = {},
}: Configuration): Promise<readonly OutputFile[]> {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const given = { ...files, "gateway.yaml": text };
  const ports = [...new Set(Object.values(given).flatMap(portsIn))];
  const toCache = new Map(ports.map((port, index) => [port, placeholder(index)]));
  const fromCache = new Map(ports.map((port, index) => [placeholder(index), port]));
  const inputs = Object.fromEntries(
    Object.entries(given).map(([name, input]) => [name, exchanged(input, toCache)]),
  );
  const digest = inject("sourceDigest");
  const key = createHash("sha256").update(JSON.stringify(inputs)).digest("hex").slice(0, 32);
  let compiled = cachedFiles(digest, key);
  if (compiled === undefined) {
    // The compiler is loaded only when something has to be compiled.
    const { compileFile } = await import("./compile-file.ts");
    const { memoryHost } = await import("../../compiler/host.ts");
    const host = memoryHost(inputs);
    compiled = (await compileFile("gateway.yaml", { name: "test", host })).files;
    cacheFiles(digest, key, compiled);
  }
  return compiled.map((file) => ({ ...file, text: exchanged(file.text, fromCache) }));
}

/** Ports of loopback in a configuration, as the system gives them away. */
const PORTS = /(?<=127\.0\.0\.1:|localhost:|\bport"?: ?)\d{5}(?!\d)/g;

function portsIn(text: string): readonly string[] {
  return text.match(PORTS) ?? [];
}

/** Numbers that stand for the ports of a configuration in the cache: none that the system gives away by itself. */
function placeholder(index: number): string {
  return String(61_001 + index);
}

/** The text with each port exchanged for the other one of its pair. */
function exchanged(text: string, pairs: ReadonlyMap<string, string>): string {
  return pairs.size === 0
    ? text
    : text.replace(/(?<!\d)\d{5}(?!\d)/g, (number) => pairs.get(number) ?? number);
}
