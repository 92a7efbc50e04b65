import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { backends } from "../compiler/backends/index.ts";
import { messages } from "../compiler/diagnostics/messages/index.ts";
import { kebabCase } from "../compiler/model/identifiers.ts";
import { policies } from "../compiler/policies/index.ts";

const root = path.resolve(import.meta.dirname, "..");

interface Import {
  readonly from: string;
  /** The imported module: a path from the root, or a package's name. */
  readonly to: string;
  readonly isType: boolean;
  readonly isDynamic: boolean;
}

/** Messages of protocols, as the generator wrote them (.ci/generate-grpc). */
const generatedMessages = "runtime/grpc/gen/";

const sources = ["compiler", "templates", "runtime", "out"].flatMap((folder) =>
  globSync(`${folder}/**/*.ts`, { cwd: root })
    .map((file) => file.split(path.sep).join("/"))
    .filter((file) => !file.startsWith(generatedMessages)),
);
const imports = sources.flatMap(importsOf);

function importsOf(from: string): Import[] {
  const text = readFileSync(path.join(root, from), "utf8").replace(
    /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm,
    "",
  );
  const found: Import[] = [];
  const statements =
    /^\s*(?:import|export)\s+(type\s+)?((?:[\w$*]+\s*,?\s*)?(?:\{[^}]*\}|\*\s*as\s+\w+)?)\s*from\s*"([^"]+)"/gm;
  for (const [, type, names = "", to = ""] of text.matchAll(statements)) {
    const inner =
      /\{([^}]*)\}/
        .exec(names)?.[1]
        ?.split(",")
        .filter((name) => name.trim() !== "") ?? [];
    const onlyTypes = inner.length > 0 && inner.every((name) => /^\s*type\s/.test(name));
    found.push({
      from,
      to: target(from, to),
      isType: type !== undefined || onlyTypes,
      isDynamic: false,
    });
  }
  for (const [, to = ""] of text.matchAll(/\bimport\(\s*"([^"]+)"\s*\)/g)) {
    found.push({ from, to: target(from, to), isType: false, isDynamic: true });
  }
  return found;
}

function target(from: string, to: string): string {
  if (to.startsWith(".")) return path.posix.join(path.posix.dirname(from), to);
  return to.startsWith("gwc/runtime/") ? `${to.slice("gwc/".length)}.ts` : to;
}

function folderOf(module: string): string {
  return module.split("/")[0] ?? "";
}

function text(found: readonly Import[]): string[] {
  return found.map(({ from, to }) => `${from} imports ${to}`);
}

/** The rooms of each folder from the ground up. A file belongs to the longest of them that it lies in, or is one itself. */
const floors: Readonly<Record<string, readonly string[]>> = {
  compiler: [
    "host.ts",
    "kept-results.ts",
    "installation.ts",
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
    "inspect",
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
    "patterns",
    "telemetry/metrics",
    "process",
    "http/headers",
    "http/body",
    "http",
    "http/routing",
    "tls",
    "net",
    "http/upstream",
    "http/engine",
    "grpc",
    "telemetry",
    "mesh",
    "auth",
    "backends",
    "policies",
    "mcp/protocol",
    "mcp/rules",
    "mcp/transports",
    "mcp/session",
    "mcp/stateless",
    "mcp/bridge",
    "mcp/aggregate",
    "mcp/passthrough",
    "mcp",
    "llm/chat",
    "llm/formats",
    "llm/guards",
    "llm/providers",
    "llm/calls",
    "llm",
    "tcp",
    "gateway",
    "discovery",
    "trial",
  ],
};

/** Nodes of expressions hold expressions: what checks or writes one kind asks the others. */
const recursions = ["compiler/cel/check/", "compiler/cel/emit/"];

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
      /^(node:|@bufbuild\/protobuf(\/|$)|jose$|re2js$|bcryptjs$|apache-md5$|unix-crypt-td-js$)/,
    templates: /^$/,
    compiler: /^(node:|yaml$|ajv$|ajv-formats$|@marcbachmann\/cel-js$|ts-morph$|esbuild$|re2js$)/,
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
      // A match is written, and a question asked, in the one form that requests are brought to.
      if (/^runtime\/http\/routing\/canonical-(host|path)\.ts$/.test(to) && folder === "compiler")
        return false;
      // What a gateway would not start with is judged as it would judge it.
      if (to === "runtime/tls/ca-certificates.ts" && folder === "compiler") return false;
      // What is counted stands once: gateways count it, and the compiler draws it.
      if (/^runtime\/telemetry\/metrics\/table\/[a-z]+\.ts$/.test(to) && folder === "compiler")
        return false;
      // How the lists of MCP are asked for and called is said once.
      if (to === "runtime/mcp/protocol/item-lists.ts" && folder === "compiler") return false;
      // What a library's patterns are made of is said once: gateways run them, and the compiler measures them.
      if (to === "runtime/patterns/pattern-codes.ts" && folder === "compiler") return false;
      // Defaults stand once, where generated code names them.
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
    // What makes the package is not in it.
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

  it("files import each other in no circle, types included, but where nodes hold nodes", () => {
    const isRecursion = ({ from, to }: Import): boolean =>
      recursions.some((folder) => from.startsWith(folder) && to.startsWith(folder));
    expect(circlesOf(imports.filter((each) => !isRecursion(each)))).toEqual([]);
    expect(circlesOf(imports.filter(({ isType, isDynamic }) => !isType && !isDynamic))).toEqual([]);
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
      "runtime/net/listen-on.ts",
      // How a socket that is there reads.
      "runtime/net/accepted-reads.ts",
      "runtime/net/socket-reads.ts",
      "runtime/net/pause-reads.ts",
      // What proxies say comes before HTTP and TLS, for whichever server gets the connection then.
      "runtime/net/proxy-protocol/",
      // So does what is passed on of a port where TLS ends.
      "runtime/net/come-first.ts",
      "runtime/net/tls-passthrough.ts",
      "runtime/tcp/",
      "runtime/tls/",
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

describe("values are typed by the schemas that let them through", () => {
  const later = sources.filter((file) =>
    /^compiler\/(2-lower|3-resolve|4-emit|policies|backends|config)\//.test(file),
  );
  /** A resource is kept under its kind, which a type parameter can't say of what comes out. */
  const byKind: Readonly<Record<string, number>> = {
    "compiler/2-lower/kubernetes/inventory/inventory.ts": 5,
    "compiler/2-lower/kubernetes/inventory/references.ts": 2,
    "compiler/2-lower/kubernetes/routes/attach.ts": 1,
  };

  it("nothing is cast once it is parsed, but resources that are found by their kind", () => {
    const casts = later.flatMap((file) => {
      const code = readFileSync(path.join(root, file), "utf8")
        .replace(/^(import|export) [^;]*from [^;]*;$/gm, "")
        .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "")
        .replace(/"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g, '""');
      const found = code.match(/[\w)\]}"] as (?!const\b)(?:unknown as )?[\w({]/g) ?? [];
      const inTypes = code.match(/\bin keyof [\w.<>[\]]+ as /g) ?? [];
      const count = found.length - inTypes.length;
      return count === (byKind[file] ?? 0) ? [] : [`${file}: ${count}`];
    });
    expect(casts).toEqual([]);
  });

  it("data without a type stays with parsing and schemas", () => {
    const users = sources.filter(
      (file) =>
        file.startsWith("compiler/") &&
        !/^compiler\/(1-parse|schema)\//.test(file) &&
        /\bConfigValue\b/.test(readFileSync(path.join(root, file), "utf8")),
    );
    expect(users).toEqual([]);
  });
});

describe("a policy is one unit in three files", () => {
  it.each(policies.map(({ kind }) => kind))(
    "%s has its config, template, runtime and tests",
    (kind) => {
      const name = kebabCase(kind);
      const parts = ["compiler", "templates", "runtime"].map(
        (folder) => `${folder}/policies/${name}.ts`,
      );
      expect(parts.filter((part) => !existsSync(path.join(root, part)))).toEqual([]);
      const tests = globSync(`test/policies/{${name}.test.ts,${name}/*.test.ts}`, { cwd: root });
      expect(tests).not.toEqual([]);
    },
  );
});

describe("a kind of backend is one unit in three files", () => {
  /** The protocol is the room's name where the kind has another one. */
  const rooms: Readonly<Record<string, string>> = { ai: "llm" };
  it.each(backends.map(({ kind }) => kind))(
    "%s has its config, template, runtime and tests",
    (kind) => {
      const name = kebabCase(kind);
      const parts = [
        `compiler/backends/${name}.ts`,
        `templates/backends/${name}.ts`,
        // One that is a room of its own has its door there.
        `{runtime/backends/${name}.ts,runtime/${rooms[kind] ?? name}/serve.ts}`,
        `test/backends/{${name},weighted-backends}.test.ts`,
      ];
      expect(parts.filter((part) => globSync(part, { cwd: root }).length === 0)).toEqual([]);
    },
  );
});

describe("what a unit decides stands in its files", () => {
  /** How code asks which kind it has before it: by its name, or by the name of its types. */
  const asks = (kinds: readonly string[]): RegExp => {
    const names = `"(?:${kinds.join("|")})"`;
    return new RegExp(
      `(?:\\bkind\\s*(?:===|!==)\\s*|\\b(?:policyOf|backendOf|templateOf|backendTemplateOf)\\(|` +
        `\\b(?:PolicyUse|PolicyConfig|BackendConfig|BackendNode|TcpBackendNode)<|` +
        `\\b(?:PolicySettings|PolicyConfigs|BackendConfigs)\\[)${names}`,
    );
  };
  const askers = (folder: "policies" | "backends", kinds: readonly string[]): string[] =>
    sources
      // Messages name kinds to people.
      .filter((file) => !/^(runtime\/|out\/|compiler\/diagnostics\/messages\/)/.test(file))
      .filter((file) => !file.includes(`/${folder}/`))
      .filter((file) => asks(kinds).test(readFileSync(path.join(root, file), "utf8")));

  it("no policy is asked for by its name outside the policies", () => {
    const kinds = policies.map(({ kind }) => kind);
    expect(askers("policies", kinds)).toEqual([]);
  });

  it("no kind of backend is asked for by its name outside the backends", () => {
    const kinds = backends.map(({ kind }) => kind);
    expect(askers("backends", kinds)).toEqual([]);
  });

  it("no module is declared to extend the types of another one", () => {
    const declaring = sources.filter((file) =>
      /^declare module "\./m.test(readFileSync(path.join(root, file), "utf8")),
    );
    expect(declaring).toEqual([]);
  });
});

describe("generated code", () => {
  const generated = sources.filter((file) => file.startsWith("out/"));

  it.each(generated)("%s keeps to the rules for generated code", (file) => {
    const lines = readFileSync(path.join(root, file), "utf8").split("\n");
    const code = lines.filter((line) => !/^\s*\/\//.test(line));
    const bare = code.map((line) => line.replace(/"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g, '""'));
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    expect(
      bare.filter((line) => /\bany\b|\beval\b|\bclass\b|\bexport default\b/.test(line)),
    ).toEqual([]);
    expect(bare.filter((line) => /\bas\b/.test(line) && !/^import /.test(line))).toEqual([]);
    expect(bare.filter((line) => /[\w)\]]!(?!=)/.test(line))).toEqual([]);
    expect(bare.filter((line) => /^let /.test(line))).toEqual([]);
  });
});

describe("words", () => {
  /** Words of an older dialect, and what the field says instead. */
  const banned: readonly (readonly [RegExp, string])[] = [
    [/\b\w*[aA]nswer(?:s|ed)?\b|\b\w*[aA]nswer[A-Z]\w*/, "response"],
    [/\b(?:late|Late[A-Z]\w*|isLate|lateError)\b/, "startup value"],
    [/\benter(?:[A-Z]\w*)?\b/, "dispatch"],
    [/\b\w*[rR]emark\w*/, "warning"],
    [/\b\w*[sS]urroundings?\b/, "context"],
    [/\b\w*[uU]sual\w*|\bUSUAL\w*/, "default"],
    [/\b[eE]xamined?\b/, "check"],
    [/\b(?:verbs|[vV]erb[A-Z]\w*)\b/, "command"],
    [/\b(?!clusterIP\b)cluster[A-Z]?\w*|\bCluster(?!IP)\w*|\bCLUSTER\w*/, "kubernetes"],
    [/\bnotYet\w*/, "unsupported"],
    [/\bmayUse\w*/, "isAuthorized"],
    [/\brefuseUnauthorized\b/, "denyForbidden"],
    [/\b(?:titleOf|nearest|layOut|asSent)\b/, "resourceName, suggest, format, original"],
    [/\b[sS]pelling\w*|\bSPELLING\w*/, "alias"],
    [/\bforward(?:Target|Method|Host)\b/, "upstreamTarget, upstreamMethod, upstreamHost"],
    [/\b[eE]stablishedV?\w*/, "attributes"],
    [/\bLivePeer\w*|\b[lL]ane\b/, "TargetConnection, StreamConsumer"],
    [/\b(?:told|behave|become)\b/, "notified, setHandlers"],
  ];
  const comments = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;
  const texts = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

  it("names are the field's words", () => {
    const wrong = sources.flatMap((file) => {
      const code = readFileSync(path.join(root, file), "utf8")
        .replace(comments, "")
        .replace(texts, '""');
      return banned.flatMap(([word, instead]) => {
        const found = word.exec(code);
        return found === null ? [] : [`${file}: ${found[0]} (say ${instead})`];
      });
    });
    expect(wrong).toEqual([]);
  });

  it("a response is no answer, in comments either", () => {
    const noun = /\b(?:an?|the|its|their|whose|every|each|no|other|own|this|one|of) answers?\b/i;
    const wrong = sources.flatMap((file) => {
      const [found] = (readFileSync(path.join(root, file), "utf8").match(comments) ?? []).flatMap(
        (comment) => noun.exec(comment) ?? [],
      );
      return found === undefined ? [] : [`${file}: ${found}`];
    });
    expect(wrong).toEqual([]);
  });

  it("an exported name has one meaning", () => {
    // The functions of expressions are called as CEL calls them.
    // What stands in for a module is called as that is.
    const own = sources.filter(
      (file) => !/^(?:out|runtime\/cel|runtime\/trial\/stand-ins)\//.test(file),
    );
    const homes = new Map<string, string[]>();
    for (const file of own) {
      const declared = readFileSync(path.join(root, file), "utf8").matchAll(
        /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) ([\w$]+)/gm,
      );
      for (const name of new Set([...declared].map(([, name = ""]) => name))) {
        homes.set(name, [...(homes.get(name) ?? []), file]);
      }
    }
    const several = [...homes].filter(([, files]) => files.length > 1);
    expect(several).toEqual([]);
  });
});

describe("public symbols", () => {
  it("every exported symbol has a doc comment", () => {
    const missing = sources
      .filter((file) => !file.startsWith("out/"))
      .flatMap((file) => {
        const lines = readFileSync(path.join(root, file), "utf8").split("\n");
        return lines.flatMap((line, index) => {
          const symbol =
            /^export (?:abstract )?(?:async )?(?:function\*?|const|class|interface|type) ([\w$]+)/.exec(
              line,
            )?.[1];
          let above = index - 1;
          // One comment may stand over a group of one-line constants.
          while (/^(\/\/ biome-ignore|export const [A-Z_]+.*;$)/.test(lines[above] ?? "")) above--;
          return symbol === undefined || /\*\/\s*$/.test(lines[above] ?? "")
            ? []
            : [`${file}: ${symbol}`];
        });
      });
    expect(missing).toEqual([]);
  });
});

describe("diagnostics", () => {
  const tests = globSync("test/**/*.{ts,yaml}", { cwd: root })
    .filter((file) => !file.endsWith("laws.test.ts"))
    .map((file) => readFileSync(path.join(root, file), "utf8"));

  it("every code has a test that provokes it", () => {
    const untested = Object.keys(messages).filter((code) => {
      const word = new RegExp(`(^|[^a-z-])${code}($|[^a-z-])`, "m");
      return !tests.some((text) => word.test(text));
    });
    expect(untested).toEqual([]);
  });
});
