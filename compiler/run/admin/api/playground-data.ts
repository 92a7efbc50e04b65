import { type BackendKind, backendOf } from "../../../backends/index.ts";
import type { BackendNode } from "../../../ir/backends.ts";
import { credentialOf, playgroundRoutes, speaksMcp } from "../../playground/playground.ts";
import type { LiveView } from "../view.ts";
import type { TryData } from "./admin-api.ts";

/** Returns the routes that the playground can send requests to, each with an example. */
export function playgroundData({ current: { program } }: LiveView): readonly TryData[] {
  return playgroundRoutes(program).map((candidate) => {
    const { request, route, listener } = candidate;
    const isMcp = speaksMcp(candidate);
    const models = route.backends.flatMap(modelsOf);
    const isModel = route.backends.some(({ kind }) => backendOf(kind).protocol === "llm");
    const { kind, value } = request.path;
    const path = isMcp && kind === "prefix" && value === "/" ? "/mcp" : value;
    const credential = credentialOf(request);
    return {
      id: route.id,
      name: route.name,
      listener: listener.name,
      kind: isMcp ? "mcp" : isModel ? "model" : "http",
      origin: request.origin,
      method: request.method ?? null,
      target: `${path}${request.search}`,
      headers: request.headers,
      credential: credential === undefined ? null : credentialField(credential),
      models: [...new Set(models)],
    };
  });
}

function credentialField({
  placeholder,
  label,
  encoding,
  owner,
}: NonNullable<ReturnType<typeof credentialOf>>): NonNullable<TryData["credential"]> {
  return { placeholder, label, encoding, owner };
}

/** Returns the names that clients can use without a wildcard. */
function modelsOf<Kind extends BackendKind>(node: BackendNode<Kind>): readonly string[] {
  const models = backendOf(node.kind).ruledModels?.(node) ?? [];
  return models.flatMap(({ name }) => (name.includes("*") ? [] : name));
}
