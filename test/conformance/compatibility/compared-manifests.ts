import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { checkFiles } from "../../../compiler/compile.ts";
import { memoryHost } from "../../../compiler/host.ts";
import { statusOf } from "../../../compiler/status/status.ts";

/** A manifest of another gateway's tests: the conditions that it writes, and those that are written here. */
export interface ComparedManifest {
  /** Below the folder of the tests. */
  readonly name: string;
  /** `GatewayPolicy default/a: Accepted=True Valid`; a line of one side only begins with `-` (theirs) or `+`. */
  readonly differences: readonly string[];
}

/** Resources that every test of a folder has in addition to its own. */
const DEFAULTS = "_defaults.yaml";

/** The kinds that have another name here. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["AgentgatewayPolicy", "GatewayPolicy"],
  ["AgentgatewayBackend", "GatewayBackend"],
  ["AgentgatewayModel", "GatewayModel"],
  ["AgentgatewayParameters", "GatewayParameters"],
]);

/** Servers that routes of the defaults name and no file has. */
const WORLD = `
---
{apiVersion: v1, kind: Service, metadata: {name: reviews, namespace: default}, spec: {ports: [{port: 8080}]}}
`;

/** Compares every manifest below a folder of agentgateway's tests that says which status it makes. */
export function compareManifests(folder: string): readonly ComparedManifest[] {
  return filesOf(folder).flatMap((file) => {
    const text = readFileSync(file, "utf8");
    const end = text.indexOf("\n# Output");
    if (end < 0 || path.basename(file) === DEFAULTS) return [];
    const own = text.slice(0, text.lastIndexOf("---", end));
    const wanted = parseAllDocuments(text.slice(end)).map((document) => document.toJS());
    const theirs = (wanted[0]?.status ?? []).flatMap(conditionsOf);
    const ours = ownConditions(withDefaults(own, file));
    // Only what theirs speaks of: defaults of a folder have statuses here, too.
    const subjects = new Set(theirs.map(subjectOf));
    const spoken = ours.filter((line) => subjects.has(subjectOf(line)));
    return [{ name: path.relative(folder, file), differences: differencesOf(theirs, spoken) }];
  });
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder)
    .map((name) => path.join(folder, name))
    .flatMap((file) => (statSync(file).isDirectory() ? filesOf(file) : [file]))
    .filter((file) => file.endsWith(".yaml"))
    .toSorted();
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

function withDefaults(own: string, file: string): string {
  const text = readFileSync(path.join(path.dirname(file), DEFAULTS), "utf8");
  const names = new Set(resourcesOf(own).map(nameOf));
  const others = resourcesOf(text + WORLD).filter((each) => !names.has(nameOf(each)));
  return [own, ...others.map((each) => JSON.stringify(each))].join("\n---\n");
}

function resourcesOf(text: string): readonly Resource[] {
  return parseAllDocuments(text).flatMap((document) => document.toJS() ?? []);
}

function nameOf({ kind, metadata: { namespace = "default", name } }: Resource): string {
  return `${KINDS.get(kind) ?? kind} ${namespace}/${name}`;
}

/** The status of resources as the controller writes it. */
function ownConditions(text: string): readonly string[] {
  const options = { name: "test", isStrict: false, isIsolating: true, isDelivered: true };
  const checked = checkFiles(["manifests.yaml"], memoryHost({ "manifests.yaml": text }), options);
  const { kubernetes } = checked;
  return kubernetes === undefined ? [] : statusOf(checked, kubernetes).flatMap(conditionsOf);
}

interface Conditions {
  readonly name?: string;
  readonly conditions?: readonly { type: string; status: string; reason: string }[];
}

interface WithStatus extends Resource {
  readonly status?: Conditions & {
    readonly listeners?: readonly Conditions[];
    readonly parents?: readonly Conditions[];
    readonly ancestors?: readonly Conditions[];
  };
}

/** The two sides word the Gateway or target of an entry differently, so only its contents are compared. */
function conditionsOf(resource: unknown): readonly string[] {
  const { status = {}, ...whole } = resource as WithStatus;
  const of = (where: string, { conditions = [] }: Conditions) =>
    conditions.map(({ type, status: is, reason }) => `${where}: ${type}=${is} ${reason}`);
  const name = nameOf(whole);
  return [
    ...of(name, status),
    ...(status.listeners ?? []).flatMap((each) => of(`${name} ${each.name}`, each)),
    ...[...(status.parents ?? []), ...(status.ancestors ?? [])].flatMap((each) => of(name, each)),
  ];
}

/** The resource, its listener and the type of a condition. */
function subjectOf(line: string): string {
  return line.slice(0, line.indexOf("="));
}

function differencesOf(theirs: readonly string[], ours: readonly string[]): readonly string[] {
  const [before, after] = [new Set(theirs), new Set(ours)];
  return [
    ...[...before].filter((each) => !after.has(each)).map((each) => `- ${each}`),
    ...[...after].filter((each) => !before.has(each)).map((each) => `+ ${each}`),
  ].toSorted();
}
