import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./harness/root.ts";
import { folderOf, type Import, imports, sources } from "./source-imports.ts";

function text(found: readonly Import[]): string[] {
  return found.map(({ from, to }) => `${from} imports ${to}`);
}

/** The rooms of each folder from the ground up. A file belongs to the longest of them that it lies in, or is one itself. */
const floors: Readonly<Record<string, readonly string[]>> = {
  compiler: [
    "host.ts",
    "cached-results.ts",
    "installation.ts",
    "html",
    "diagnostics",
    "model",
    "schema",
    "cel",
    "manifests",
    "backends",
    "policies",
    "ir",
    "config",
    "observability",
    "1-parse",
    "2-lower",
    "3-resolve",
    "4-emit",
    "compile.ts",
    "status",
    "inspect",
    "import",
    "editor",
    "run",
    "agent",
    "controller",
    "commands",
    "cli.ts",
    "package",
  ],
  templates: ["code", "routing", "backends", "policies", "modules", "kubernetes", "image"],
  runtime: [
    "json",
    "cel",
    "contents",
    "patterns",
    "time",
    "metrics",
    "store",
    "process",
    "net",
    "tls",
    "http/headers",
    "http/body",
    "http",
    "http/routing",
    "http/upstream",
    "http/engine",
    "grpc",
    "telemetry",
    "mesh",
    "spiffe",
    "auth",
    "backends",
    "policy",
    "policies",
    "mcp/protocol",
    "mcp/rules",
    "mcp/transports",
    "mcp/session",
    "mcp/stateless",
    "mcp/bridge",
    "mcp/aggregate",
    "mcp/passthrough",
    "mcp/batch",
    "mcp",
    "llm/chat",
    "llm/formats",
    "llm/guards",
    "mcp/guards",
    "policies/mcp-guards.ts",
    "llm/providers",
    "llm/cache",
    "llm/calls",
    "llm/capture",
    "llm",
    "tcp",
    "acme",
    "gateway",
    "discovery",
    "trial",
  ],
};

function floorOf(module: string): number {
  const folder = folderOf(module);
  const rooms = floors[folder] ?? [];
  const own = rooms.filter((room) => `${module}/`.startsWith(`${folder}/${room}/`));
  const [room] = own.sort((a, b) => b.length - a.length);
  if (room === undefined) throw new Error(`${module} lies in no room of ${folder}`);
  return rooms.indexOf(room);
}

function circlesOf(edges: readonly Import[]): readonly string[] {
  const next = Map.groupBy(
    edges.filter(({ to }) => sources.includes(to)),
    ({ from }) => from,
  );
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (module: string, trail: readonly string[]): void => {
    if (trail.includes(module)) {
      circles.push([...trail.slice(trail.indexOf(module)), module].join(" -> "));
      return;
    }
    if (done.has(module)) return;
    for (const { to } of next.get(module) ?? []) visit(to, [...trail, module]);
    done.add(module);
  };
  for (const module of sources) visit(module, []);
  return circles;
}

describe("who may import whom", () => {
  const packages: Readonly<Record<string, RegExp>> = {
    runtime:
      /^(node:|@bufbuild\/protobuf(\/|$)|acme-client$|iovalkey$|jose$|minisearch$|re2js$|bcryptjs$|apache-md5$|unix-crypt-td-js$)/,
    templates: /^$/,
    compiler:
      /^(node:|yaml$|ajv$|ajv-formats$|@marcbachmann\/cel-js$|ts-morph$|esbuild$|re2js$|undici$|vscode-languageserver(\/node|-textdocument)?$)/,
    out: /^$/,
  };
  const values: Readonly<Record<string, readonly string[]>> = {
    runtime: ["runtime"],
    templates: ["templates"],
    compiler: ["compiler", "templates"],
    out: ["out", "runtime"],
  };

  it("runtime, templates, compiler and generated code keep to their folders for values", () => {
    const wrong = imports.filter(({ from, to, isType, isDynamic }) => {
      const folder = folderOf(from);
      if (isType || isDynamic) return false;
      // Folding runs emitted expressions against the helpers that the gateway will run: one semantics.
      if (from === "compiler/cel/evaluate/run-code.ts" && to.startsWith("runtime/cel/"))
        return false;
      // Matches are written, and access is questioned, in the canonical form of paths that requests get.
      if (to === "runtime/http/routing/path.ts" && folder === "compiler") return false;
      // Served methods and canonical hosts are defined once, for gateways and for answers about access.
      if (to === "runtime/http/request-line.ts" && folder === "compiler") return false;
      // The compiler judges files with the functions of the gateway that would not start with them.
      if (
        /^runtime\/(tls\/(ca-certificates|certificate-pair)|contents\/[a-z-]+)\.ts$/.test(to) &&
        folder === "compiler"
      )
        return false;
      // Metrics are defined once: gateways count them, and the compiler draws them.
      if (/^runtime\/metrics\/table\/[a-z]+\.ts$/.test(to) && folder === "compiler") return false;
      // How the lists of MCP are asked for and called is said once.
      if (to === "runtime/mcp/protocol/item-lists.ts" && folder === "compiler") return false;
      // The test for an object of JSON is written once.
      if (to === "runtime/json/json-object.ts" && folder === "compiler") return false;
      // Readings of a URI are the same in gateways and in answers about access.
      if (to === "runtime/mcp/protocol/resource-uri.ts" && folder === "compiler") return false;
      // Which fields requests to models have is said once: gateways read them, and the compiler judges those that it sets.
      if (/^runtime\/llm\/formats\/[a-z-]+\/request-fields\.ts$/.test(to) && folder === "compiler")
        return false;
      // The elements of a library's patterns are defined once: gateways run them, and the compiler measures them.
      if (to === "runtime/patterns/pattern-codes.ts" && folder === "compiler") return false;
      // The origin of a request is judged in the same way for a question as for a request.
      if (to === "runtime/policies/csrf/cross-site.ts" && folder === "compiler") return false;
      // Defaults are defined once, where generated code names them.
      if (/^runtime\/.*\/default-[a-z-]+\.ts$/.test(to) && folder !== "out") return false;
      return !(values[folder]?.includes(folderOf(to)) || packages[folder]?.test(to));
    });
    expect(text(wrong)).toEqual([]);
  });

  it("types cross folders only downwards", () => {
    const wrong = imports.filter(({ from, to, isType }) => {
      if (!isType) return false;
      const folder = folderOf(from);
      if (folder === folderOf(to) || packages[folder]?.test(to) || !sources.includes(to))
        return false;
      if (folder === "compiler") return !["runtime", "templates"].includes(folderOf(to));
      if (folder === "templates") {
        return (
          folderOf(to) !== "runtime" &&
          !/^compiler\/((ir|model)\/[a-z-]+|diagnostics\/diagnostic)\.ts$/.test(to)
        );
      }
      return folder !== "out" || folderOf(to) !== "runtime";
    });
    expect(text(wrong)).toEqual([]);
  });

  it("a phase never imports from a later one", () => {
    const phase = (module: string): number => Number(/^compiler\/([1234])-/.exec(module)?.[1] ?? 0);
    const wrong = imports.filter(
      ({ from, to, isType }) => !isType && phase(from) > 0 && phase(to) > phase(from),
    );
    expect(text(wrong)).toEqual([]);
  });

  it("ts-morph and esbuild each have one importer, and are loaded when they are needed", () => {
    // The scripts that make the package are not in it.
    const users = (name: string): Import[] =>
      imports.filter(
        ({ from, to, isType }) => to === name && !isType && !from.startsWith("compiler/package/"),
      );
    expect(users("ts-morph").map(({ from, isDynamic }) => [from, isDynamic])).toEqual([
      ["compiler/4-emit/check/type-checker.ts", true],
    ]);
    expect(users("esbuild").map(({ from, isDynamic }) => [from, isDynamic])).toEqual([
      ["compiler/4-emit/bundle.ts", true],
    ]);
  });

  it("files import each other in no circle, types included", () => {
    expect(circlesOf(imports)).toEqual([]);
  });

  it.each(Object.keys(floors))(
    "the rooms of %s import from the floors below them, types included",
    (folder) => {
      const wrong = imports.filter(
        ({ from, to }) =>
          folderOf(from) === folder && folderOf(to) === folder && floorOf(from) < floorOf(to),
      );
      expect(text(wrong)).toEqual([]);
    },
  );

  it("sockets and node's HTTP are known to the engine, the clients and TCP alone", () => {
    const network = /^node:(net|tls|https?|http2)$/;
    const allowed = [
      "runtime/http/engine/node/",
      "runtime/http/upstream/node/",
      "runtime/grpc/node/",
      "runtime/net/connector.ts",
      // Types alone.
      "runtime/net/joined-mesh.ts",
      "runtime/net/listen-on.ts",
      // How a socket that is there reads.
      "runtime/net/socket-reads.ts",
      // The PROXY header comes before HTTP and TLS, for any server that gets the connection then.
      "runtime/net/proxy-protocol/",
      "runtime/net/port-server.ts",
      "runtime/tcp/",
      "runtime/tls/",
      // The library's requests trust an operator's authority, and handshakes of the ACME server carry nothing.
      "runtime/acme/acme-connection.ts",
      "runtime/acme/challenge-handshakes.ts",
      // These read addresses, and open nothing.
      "runtime/backends/dynamic/address-rules.ts",
      "runtime/backends/dynamic/destination.ts",
      "runtime/backends/endpoints.ts",
      "runtime/cel/functions/net.ts",
    ];
    const wrong = imports.filter(
      ({ from, to }) =>
        folderOf(from) === "runtime" &&
        network.test(to) &&
        !allowed.some((place) => from.startsWith(place)),
    );
    expect(text(wrong)).toEqual([]);
  });

  it("the runtime has no barrel files", () => {
    const barrels = sources
      .filter((file) => file.startsWith("runtime/"))
      .filter((file) => {
        const code = readFileSync(path.join(root, file), "utf8").replace(
          /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm,
          "",
        );
        const statements = code
          .split(";")
          .map((each) => each.trim())
          .filter((each) => each !== "");
        return (
          statements.length > 0 &&
          statements.every((each) => /^export\s+(type\s+)?[{*][\s\S]*from/.test(each))
        );
      });
    expect(barrels).toEqual([]);
  });
});
