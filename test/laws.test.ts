import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { backends } from "../compiler/backends/index.ts";
import { messages } from "../compiler/diagnostics/messages/index.ts";
import { kebabCase } from "../compiler/model/identifiers.ts";
import { policies } from "../compiler/policies/index.ts";
import { root } from "./harness/root.ts";
import { sources } from "./source-imports.ts";

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

describe("files and manifests have one schema", () => {
  it("no description of a field is written twice", () => {
    const homes = new Map<string, Set<string>>();
    for (const file of sources) {
      if (!/^compiler\/(1-parse|backends|config|manifests|policies|schema)\//.test(file)) continue;
      const code = readFileSync(path.join(root, file), "utf8");
      for (const [, text = ""] of code.matchAll(/"((?:[^"\\\n]|\\.){40,}\.)"/g))
        homes.set(text, (homes.get(text) ?? new Set()).add(file));
    }
    const twins = [...homes].flatMap(([text, files]) => (files.size > 1 ? [[text, ...files]] : []));
    expect(twins).toEqual([]);
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

describe("a unit decides in its own files", () => {
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
      // A provider of models is also called `custom`.
      .filter((file) => !file.startsWith("compiler/backends/ai/"))
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
  // Modules of users are copied unchanged.
  const generated = sources.filter(
    (file) => file.startsWith("out/") && !/^out\/[^/]+\/policies\//.test(file),
  );

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

describe("the runtime", () => {
  // V8 takes such a function for a method of a prototype: old from the beginning, with all that it holds. It is only cleared
  // away with the whole heap, however short the life of its object was.
  it("no function is written straight into a property", () => {
    const written = sources
      .filter((file) => file.startsWith("runtime/"))
      .flatMap((file) => {
        const code = readFileSync(path.join(root, file), "utf8");
        const found = code.match(/\.#?\w+ = (?:async )?(?:function\b|\([^()]*\) =>|\w+ =>)/g) ?? [];
        return found.map((text) => `${file}: ${text}`);
      });
    expect(written).toEqual([]);
  });
});

/** Modules about Redis, in whose words a cluster has nothing to do with Kubernetes. */
const OF_REDIS = /\/(redis-[a-z]+|2-lower\/standalone\/store)\.ts$/;

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
        // A Redis Cluster is several servers of Redis.
        if (instead === "kubernetes" && OF_REDIS.test(file)) return [];
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
    // Functions of expressions are called as CEL calls them. Stubs of a module have its names.
    const own = sources.filter(
      (file) => !/^(?:out|runtime\/cel|runtime\/trial\/stubs)\//.test(file),
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
          // One comment may cover a group of one-line constants.
          while (/^(\/\/ biome-ignore|export const [A-Z_]+.*;$)/.test(lines[above] ?? "")) above--;
          return symbol === undefined || /\*\/\s*$/.test(lines[above] ?? "")
            ? []
            : [`${file}: ${symbol}`];
        });
      });
    expect(missing).toEqual([]);
  });
});

describe("exports", () => {
  const users = globSync("{compiler,templates,runtime,out,test}/**/*.{ts,tsx,mts,mjs}", {
    cwd: root,
  });
  const homes = new Map<string, Set<string>>();
  for (const file of users) {
    const words = readFileSync(path.join(root, file), "utf8").match(/[A-Za-z_$][\w$]*/g) ?? [];
    for (const word of new Set(words)) homes.set(word, (homes.get(word) ?? new Set()).add(file));
  }

  it("isJsonObject is not written again", () => {
    const test = /=== "object" && (\w+) !== null && !Array\.isArray\(\1\)/;
    // A mapping of YAML may also be a template; templates import nothing from the runtime.
    const homes = ["runtime/json/json-object.ts", "compiler/schema/config-values.ts"];
    const others = sources.filter(
      (file) =>
        /^(?:compiler|runtime)\//.test(file) &&
        test.test(readFileSync(path.join(root, file), "utf8")),
    );
    expect(others.toSorted()).toEqual(homes.toSorted());
  });

  it("what only its own file uses is not exported", () => {
    const local = sources.flatMap((file) => {
      if (file.startsWith("out/")) return [];
      const text = readFileSync(path.join(root, file), "utf8");
      const exported = /^export (?:abstract )?(?:async )?(?:function\*?|const|class) ([\w$]+)/gm;
      return [...text.matchAll(exported)].flatMap(([, name = ""]) => {
        const others = (homes.get(name)?.size ?? 0) > 1;
        // Generated code composes some names of the runtime from words, so that they appear nowhere else.
        const isComposed = file.startsWith("runtime/") && text.split(name).length === 2;
        return others || isComposed ? [] : [`${file}: ${name}`];
      });
    });
    expect(local).toEqual([]);
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

it("a file has at most 400 lines", () => {
  const long = sources.flatMap((file) => {
    if (file.startsWith("out/") || file.includes("/gen/")) return [];
    const lines = readFileSync(path.join(root, file), "utf8").split("\n").length - 1;
    return lines > 400 ? [`${file}: ${lines}`] : [];
  });
  expect(long).toEqual([]);
});

it("each decision has a number of its own, with which its title begins", () => {
  const folder = path.join(root, ".github/decisions");
  const files = globSync("[0-9]*.md", { cwd: folder });
  const numbers = files.map((file) => file.slice(0, 3));
  expect(new Set(numbers).size).toBe(files.length);
  const titles = files.map((file) => readFileSync(path.join(folder, file), "utf8").slice(2, 5));
  expect(titles).toEqual(numbers);
});
