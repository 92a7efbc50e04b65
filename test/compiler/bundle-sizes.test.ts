import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { expect, it } from "vitest";
import type { BundledModule, BundledPackage } from "../../compiler/4-emit/bundle.ts";
import { memoryHost } from "../../compiler/host.ts";
import { compileFile } from "../harness/compile-file.ts";
import { root } from "../harness/root.ts";

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

it("a plain proxy is at most 131 kB, and has nothing of policies, models, MCP, gRPC or packages", async () => {
  const plain = await compiled({ backends: [{ host: "127.0.0.1:9000" }] });
  expect(plain.bytes).toBeLessThanOrEqual(131_000);
  expect(plain.packages).toEqual([]);
  const own = [
    "backends",
    "gateway",
    "http",
    "metrics",
    "net",
    "process",
    "telemetry",
    "time",
    "tls",
  ];
  expect([...rooms(plain)].toSorted()).toEqual(own);
  const unused =
    /otlp|audit|trac(e|ing)s?\/|workers|upstream\/node\/http2|watched|retry|tunnels?-|proxy-tunnel/;
  const found = plain.modules.filter(({ name }) => unused.test(name)).map(({ name }) => name);
  expect(found).toEqual([]);
});

it("a gateway of MCP servers is at most 279 kB, and has no package", async () => {
  const targets = [
    { name: "one", mcp: { host: "http://127.0.0.1:9001/mcp" } },
    { name: "two", sse: { host: "http://127.0.0.1:9002/sse" } },
    { name: "three", stdio: { cmd: "server" } },
  ];
  const policies = { mcpAuthorization: { rules: ['mcp.tool.name == "add"'] } };
  const tools = await compiled({ policies, backends: [{ mcp: { targets } }] });
  expect(tools.bytes).toBeLessThanOrEqual(279_000);
  expect(tools.packages).toEqual([]);
  expect([...rooms(tools)]).not.toContain("llm");
});

it("the sizes in README and in the guides are those of today's bundles, give or take 5 %", async () => {
  const route = { name: "shop", backends: [{ host: "127.0.0.1:8080" }] };
  const plain = { gateways: { default: { port: 3000 } }, routes: [route] };
  const inputs = [
    ["gateway.yaml", memoryHost({ "gateway.yaml": JSON.stringify(plain) })],
    [path.join(root, "examples/authorization/gateway.yaml"), undefined],
    [path.join(root, "examples/llm/gateway.yaml"), undefined],
  ] as const;
  const sizes: [number, number][] = [];
  for (const [file, host] of inputs) {
    const { files } = await compileFile(file, { name: "sizes", ...(host && { host }) });
    const text = files.find(({ path: name }) => name === "gateway.mjs")?.text ?? "";
    sizes.push([Buffer.byteLength(text), gzipSync(text, { level: 9 }).length]);
  }
  const guide = readFileSync(path.join(root, ".github/guides/deploy.md"), "utf8");
  const written = /\| layer of the bundle \|(.*)\|\n\| the same, compressed \|(.*)\|/.exec(guide);
  const numbers = (text = "") => [...text.matchAll(/(\d+) kB/g)].map(([, kB]) => Number(kB));
  const shown = [numbers(written?.[1]), numbers(written?.[2])];
  const readme = readFileSync(path.join(root, "README.md"), "utf8");
  const inReadme = numbers(/\| bundle, compressed \|(.*?)\|/.exec(readme)?.[1]);
  expect(inReadme).toEqual(shown[1]);
  for (const [index, [bytes, compressed]] of sizes.entries()) {
    expect(Math.abs((shown[0]?.[index] ?? 0) * 1000 - bytes)).toBeLessThan(bytes / 20);
    expect(Math.abs((shown[1]?.[index] ?? 0) * 1000 - compressed)).toBeLessThan(compressed / 20);
  }
});
