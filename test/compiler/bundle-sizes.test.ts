import { build } from "esbuild";
import { expect, it } from "vitest";
import type { BundledModule, BundledPackage } from "../../compiler/4-emit/bundle.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";

interface Compiled {
  /** Of the bundle without what people read: white space and long names. */
  readonly bytes: number;
  readonly modules: readonly BundledModule[];
  readonly packages: readonly BundledPackage[];
}

async function compiled(route: object): Promise<Compiled> {
  const config = { binds: [{ port: 3000, listeners: [{ routes: [route] }] }] };
  const host = memoryHost({ "gateway.yaml": JSON.stringify(config) });
  const { bundle, files } = await compileFile("gateway.yaml", { name: "small", host });
  const text = files.find(({ path }) => path === "gateway.mjs")?.text ?? "";
  const { metafile } = await build({
    stdin: { contents: text, loader: "js" },
    outfile: "gateway.mjs",
    write: false,
    metafile: true,
    minify: true,
    format: "esm",
    platform: "node",
    target: "node24",
  });
  const bytes = metafile.outputs["gateway.mjs"]?.bytes ?? Number.POSITIVE_INFINITY;
  return { bytes, modules: bundle.modules, packages: bundle.packages };
}

/** The rooms of the runtime that a bundle has modules of. */
function rooms({ modules }: Compiled): ReadonlySet<string | undefined> {
  return new Set(modules.map(({ name }) => name.split("/")[1]));
}

it("a plain proxy is at most 130 kB, and has nothing of policies, models, MCP, gRPC or packages", async () => {
  const plain = await compiled({ backends: [{ host: "127.0.0.1:9000" }] });
  expect(plain.bytes).toBeLessThanOrEqual(130_000);
  expect(plain.packages).toEqual([]);
  const own = ["backends", "gateway", "http", "metrics", "net", "process", "telemetry", "tls"];
  expect([...rooms(plain)].toSorted()).toEqual(own);
  const unused =
    /otlp|audit|trac(e|ing)s?\/|workers|upstream\/node\/http2|watched|retry|tunnels?-|proxy-tunnel/;
  const found = plain.modules.filter(({ name }) => unused.test(name)).map(({ name }) => name);
  expect(found).toEqual([]);
});

it("a gateway of MCP servers is at most 266 kB, and has no package", async () => {
  const targets = [
    { name: "one", mcp: { host: "http://127.0.0.1:9001/mcp" } },
    { name: "two", sse: { host: "http://127.0.0.1:9002/sse" } },
    { name: "three", stdio: { cmd: "server" } },
  ];
  const policies = { mcpAuthorization: { rules: ['mcp.tool.name == "add"'] } };
  const tools = await compiled({ policies, backends: [{ mcp: { targets } }] });
  expect(tools.bytes).toBeLessThanOrEqual(266_000);
  expect(tools.packages).toEqual([]);
  expect([...rooms(tools)]).not.toContain("llm");
});
