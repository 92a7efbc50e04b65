import { checkFiles } from "../../compiler/compile.ts";
import { memoryHost } from "../../compiler/host.ts";
import type { GatewayConfig } from "./gateway.ts";

/**
 * The codes of what gwc says about a configuration that it refuses; throws when it does not refuse it. `isStrict`: whether
 * warnings are errors.
 */
export function refusals(options: GatewayConfig, isStrict = false): string[] {
  const config =
    "config" in options
      ? options.config
      : { ...options.file, binds: [{ port: 3000, listeners: options.listeners }] };
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const host = memoryHost({ "gateway.yaml": text });
  const { program, diagnostics } = checkFiles(["gateway.yaml"], host, {
    name: "test",
    isStrict,
  });
  if (program !== undefined) throw new Error("it was accepted");
  return diagnostics.map(({ code }) => code).filter((code) => code !== "file-not-here");
}
