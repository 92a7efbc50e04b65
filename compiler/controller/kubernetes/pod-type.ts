import type { ResourceType } from "./api-object.ts";

/** Pods, of which only some are read. */
export const POD: ResourceType = {
  group: "",
  version: "v1",
  kind: "Pod",
  plural: "pods",
  isNamespaced: true,
};

/** Listeners for changes of pods. */
export interface PodListener {
  readonly changed: () => void;
  readonly warn: (message: string) => void;
}
