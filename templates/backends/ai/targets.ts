import type { BackendNode } from "../../../compiler/ir/backends.ts";
import { code, join, literal } from "../../code/code.ts";
import type { Code, ImportSymbol, Printable } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";
import type { AiFunctions } from "./functions.ts";
import { providerReference } from "./providers.ts";

const CALLS = "gwc/runtime/llm/calls";
const FORMATS = "gwc/runtime/llm/formats";

/** Route types whose requests are conversations. */
export type ClientType = "Completions" | "Messages";

type ProviderNode = BackendNode<"ai">["groups"][number][number];

/** What clients of a route type speak, as modules and formats are called. */
export function clientModule(type: ClientType): "completions" | "messages" {
  return type === "Completions" ? "completions" : "messages";
}

/** How clients of a route type read errors. */
export function errorsOf(type: ClientType): ImportSymbol {
  const format = clientModule(type);
  return imported(`${FORMATS}/${format}/errors`, `${format}Errors`);
}

/** How policies before the backend refuse what clients of a route type send. */
export function refusalOf(type: ClientType): ImportSymbol {
  const format = clientModule(type);
  return imported(`${FORMATS}/${format}/errors`, `${format}Refusal`);
}

/** A provider as the end of a route type. */
export function targetCode(type: ClientType, node: ProviderNode, functions: AiFunctions): Code {
  const endpoint = node.endpoints[type];
  if (endpoint === undefined) throw new Error(`${node.name} does not serve ${type}`);
  const client = clientModule(type);
  const { format, path, streamPath } = endpoint;
  const target: Readonly<Record<string, Printable | undefined>> = {
    provider: providerReference(node),
    path: pathCode(path, streamPath, node.model),
    modelFor: node.model === undefined ? functions.modelFor(node) : undefined,
    prepare: functions.prepare(client, node),
  };
  if (format === client) {
    const native = imported(`${FORMATS}/${format}/native`, `${format}Native`);
    return code`${imported(`${CALLS}/native-target`, "nativeTarget")}(${literal({ ...target, format: native })})`;
  }
  const settings = {
    ...target,
    client: imported(`${FORMATS}/${client}/client`, `${client}Client`),
    format: imported(`${formatFolder(format)}/upstream`, `${format}Upstream`),
    dialect: {
      provider: node.name,
      maxTokensField: format === "completions" && !node.isOwnServer ? "max_tokens" : undefined,
    },
  };
  return code`${imported(`${CALLS}/translated-target`, "translatedTarget")}(${literal(settings)})`;
}

/** Folders are in kebab case. */
function formatFolder(format: string): string {
  return `${FORMATS}/${format.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** What is known of the model stands in the path. */
function pathCode(
  path: string,
  streamPath: string | undefined,
  model: string | undefined,
): Printable {
  const isKnown = !path.includes("{model}") || model !== undefined;
  const whole = model === undefined ? path : path.replace("{model}", encodeURIComponent(model));
  if (isKnown && streamPath === undefined) return whole;
  const args = streamPath === undefined ? [path] : [path, streamPath];
  const list = join(
    args.map((each) => literal(each)),
    ", ",
  );
  return code`${imported(`${CALLS}/model-path`, "modelPath")}(${list})`;
}
