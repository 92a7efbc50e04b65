import type { ManifestOf } from "../../../manifests/manifests.ts";

/** A GatewayModel. */
export type ModelManifest = ManifestOf<"GatewayModel">;

/** GatewayModels by where they are served, oldest first. */
export interface ModelTables {
  /** Models of listeners, by the listener's key. */
  readonly ofListeners: Pick<ReadonlyMap<string, readonly ModelManifest[]>, "get">;
  /** Models of rules of HTTPRoutes, by the location of the rule (`placeKey`). */
  readonly ofRules: Pick<ReadonlyMap<string, readonly ModelManifest[]>, "get">;
  /** Gateways that serve each model. */
  readonly gateways: ReadonlyMap<ModelManifest, ReadonlySet<ManifestOf<"Gateway">>>;
}

/** Returns the name of a model that clients use. */
export function nameOfModel({ spec, name }: ModelManifest): string {
  return spec?.match?.model ?? name;
}
