import type { BackendNode } from "../../../compiler/ir/backends.ts";
import type { ImportSymbol } from "../../code/hole.ts";
import { imported } from "../../code/names.ts";

type ProviderNode = BackendNode<"ai">["groups"][number][number];

/** Returns the function that maps models to the names in a provider's paths. */
export function modelNaming(modelName: NonNullable<ProviderNode["modelName"]>): ImportSymbol {
  return imported("gwc/runtime/llm/providers/vertex-model", modelName);
}
