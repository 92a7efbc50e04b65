import { optionalIdentities } from "../../backends/parts/known-identities.ts";
import { namesFailingWithout } from "../../cel/compile.ts";
import type { Origin } from "../../diagnostics/diagnostic.ts";
import type { ResolveContext } from "../policy.ts";
import type { DescriptorConfig, DescriptorNode } from "./limit-service-config.ts";

/** A part that requests may lack, in which case no descriptor limits them, with the location that reads it. */
type WayAround =
  | {
      readonly kind: "stranger";
      readonly variable: string;
      readonly policies: string;
      readonly origin: Origin;
    }
  | { readonly kind: "data"; readonly name: string; readonly origin: Origin };

/** Reports when every descriptor can be omitted: clients that achieve this are not limited. */
export function reportUnlimited(
  configs: readonly DescriptorConfig[],
  descriptors: readonly DescriptorNode[],
  context: ResolveContext,
): void {
  const ways = descriptors.map((each, index) => waysAround(configs[index], each, context));
  if (!ways.every((found) => found.length > 0)) return;
  for (const { origin, ...way } of ways.flat()) {
    if (way.kind === "stranger") context.diagnostics.report("limits-no-stranger", origin, way);
    else context.diagnostics.report("limits-who-says-so", origin, way);
  }
}

function waysAround(
  config: DescriptorConfig | undefined,
  { entries }: DescriptorNode,
  context: ResolveContext,
): readonly WayAround[] {
  const ofIdentity = entries.flatMap(({ value }, index): readonly WayAround[] => {
    const [params] = optionalIdentities(value.variables, context);
    const origin = config?.entries[index]?.origin;
    return params === undefined || origin === undefined
      ? []
      : [{ kind: "stranger", ...params, origin }];
  });
  const { cost, unit } = config ?? {};
  const read = [
    ...(config?.entries ?? []),
    ...(cost === undefined || unit === "tokens" ? [] : [cost]),
  ];
  const ofData = read.flatMap(({ text, origin }): readonly WayAround[] =>
    namesFailingWithout(text, "request").map((name) => ({ kind: "data", name, origin })),
  );
  return [...ofIdentity, ...ofData];
}
