import { isHole } from "../../templates/code/hole.ts";
import type { Origin } from "../diagnostics/diagnostic.ts";
import type { Program } from "../ir/program.ts";
import type { StartupNode } from "../ir/startup.ts";
import type { MountedFile } from "../model/texts.ts";

/** The variables without fallback and the files that a program names, each once, where it is named first. */
export function startupNeeds(program: Program): readonly StartupNode[] {
  const needs = new Map<string, StartupNode>();
  const walk = (value: unknown, around: Origin | undefined): void => {
    // code has no more than what is beside it
    if (typeof value !== "object" || value === null || isHole(value)) return;
    if (Array.isArray(value)) {
      for (const item of value) walk(item, around);
      return;
    }
    const fields = new Map(Object.entries(value));
    const own = fields.get("origin");
    const origin = isOrigin(own) ? own : around;
    const add = (key: string, need: (origin: Origin) => StartupNode) => {
      if (origin !== undefined && !needs.has(key)) needs.set(key, need(origin));
    };
    const variable = fields.get("env");
    if (typeof variable === "string" && !fields.has("fallback"))
      add(`variable ${variable}`, (at) => ({ kind: "variable", name: variable, origin: at }));
    for (const file of filesOf(fields))
      add(`${file.kind} ${file.file}`, (at) => ({ kind: "file", file, origin: at }));
    for (const [name, each] of fields) if (name !== "origin") walk(each, origin);
  };
  const { binds, tcp, tracing } = program;
  walk({ binds, tcp, tracing }, undefined);
  return [...needs.values()];
}

/** Fields that are paths of files by themselves. */
const PATHS = ["certFile", "keyFile"];

function filesOf(fields: ReadonlyMap<string, unknown>): readonly MountedFile[] {
  const texts = (names: readonly string[]) =>
    names.map((name) => fields.get(name)).filter((each) => typeof each === "string");
  const kind = fields.get("kind");
  const isSecret = fields.get("isSecret") === true;
  const own = kind === "secret" || kind === "configMap" ? kind : isSecret ? "secret" : "path";
  const isFile = ["path", "file", "secret", "configMap"].includes(String(kind));
  const named = isFile ? texts(["file"]) : [];
  // A certificate has no more fields than its files.
  const pair = fields.has("cert") && fields.has("key") ? texts(["cert", "key"]) : [];
  return [...texts(PATHS), ...pair, ...named].map((file) => ({ kind: own, file }));
}

function isOrigin(value: unknown): value is Origin {
  return typeof value === "object" && value !== null && "file" in value && "path" in value;
}
