import {
  childOf,
  type Diagnostics,
  keyPlace,
  type Origin,
} from "../../../diagnostics/diagnostic.ts";
import type { NamedImage } from "../../../ir/deployment.ts";
import { type Json, jsonAt } from "../../../model/json.ts";
import { mergedSpec, workloadField } from "./overlays.ts";
import type { ParametersSpec } from "./parameters.ts";

type ImageValue = NonNullable<ParametersSpec["image"]>;

/** Returns the image that parameters configure; later parameters override fields of earlier ones. */
export function imageOf(parameters: readonly ParametersSpec[]): ImageValue {
  return Object.assign({}, ...parameters.map((each) => each.image ?? {}));
}

/** Returns `REGISTRY/REPOSITORY:TAG@DIGEST`; `undefined` without a repository. */
export function imageText({ registry, repository, tag, digest }: ImageValue): string | undefined {
  if (repository === undefined || repository === "") return undefined;
  const name = registry ? `${registry}/${repository}` : repository;
  return `${name}${tag ? `:${tag}` : ""}${digest ? `@${digest}` : ""}`;
}

/** Reports an image without a repository, which has no effect. */
export function checkImage(parameters: readonly ParametersSpec[], diagnostics: Diagnostics): void {
  const { registry, repository, tag, digest } = imageOf(parameters);
  if (repository || !(registry || tag || digest)) return;
  const origin = imageOrigin(parameters);
  if (origin !== undefined) diagnostics.report("image-without-repository", keyPlace(origin), {});
}

/** Returns the images in parameters that pods run: the gateway's, and those of containers in overlays. */
export function namedImages(parameters: readonly ParametersSpec[]): readonly NamedImage[] {
  const own = imageText(imageOf(parameters));
  const origin = imageOrigin(parameters);
  const field = workloadField(parameters);
  const used = new Set(containerImages(mergedSpec(parameters, field)).map(({ image }) => image));
  const laidOn = parameters.flatMap(({ [field]: workload, origin: at }) =>
    containerImages(workload?.spec ?? {}).flatMap(({ image, path }) =>
      used.has(image) ? [{ image, origin: childOf(at, "spec", field, "spec", ...path) }] : [],
    ),
  );
  return [
    ...(own === undefined || origin === undefined ? [] : [{ image: own, origin }]),
    ...laidOn,
  ];
}

function imageOrigin(parameters: readonly ParametersSpec[]): Origin | undefined {
  const last = parameters.findLast(({ image }) => image !== undefined);
  return last && childOf(last.origin, "spec", "image");
}

function containerImages(
  spec: Json,
): readonly { readonly image: string; readonly path: readonly (string | number)[] }[] {
  return ["initContainers", "containers"].flatMap((kind) => {
    const list = jsonAt(spec, "template", "spec", kind);
    return (Array.isArray(list) ? list : []).flatMap((container, index) => {
      const image = jsonAt(container, "image");
      const path = ["template", "spec", kind, index, "image"];
      return typeof image === "string" ? [{ image, path }] : [];
    });
  });
}
