import type { Diagnostics, Origin } from "../../diagnostics/diagnostic.ts";
import type {
  DescriptorConfig,
  DescriptorNode,
  LimitServiceConfig,
} from "./limit-service-config.ts";

/** A descriptor with its location. */
export interface PlacedDescriptor extends DescriptorNode {
  readonly origin: Origin;
}

/**
 * Reports descriptors with the entries of an earlier one. The service counts by the entries and their order, so
 * these would be counted twice.
 */
export function reportRepeatedDescriptors(
  descriptors: readonly PlacedDescriptor[],
  diagnostics: Diagnostics,
): void {
  const before = new Map<string, PlacedDescriptor>();
  for (const each of descriptors) {
    const counted = each.entries.map(({ name, value }) => [name, value.source]);
    const key = JSON.stringify(counted);
    const first = before.get(key);
    if (first === undefined) before.set(key, each);
    else reportRepeated(each, first, diagnostics);
  }
}

function reportRepeated(
  each: PlacedDescriptor,
  first: PlacedDescriptor,
  diagnostics: Diagnostics,
): void {
  const isSame =
    each.unit === first.unit &&
    each.cost?.source === first.cost?.source &&
    each.limit?.source === first.limit?.source;
  const related = [{ at: first.origin, label: "the first one" }];
  diagnostics.report("repeated-descriptor", each.origin, { isSame, unit: each.unit }, related);
}

/** Reports descriptors that the call before routing has already counted. */
export function reportCountedBefore(
  { server, domain, descriptors }: LimitServiceConfig,
  before: LimitServiceConfig,
  diagnostics: Diagnostics,
): void {
  if (domain !== before.domain || serverKey(server) !== serverKey(before.server)) return;
  for (const each of descriptors) {
    const first = before.descriptors.find((other) => entriesKey(other) === entriesKey(each));
    if (first === undefined) continue;
    const related = [{ at: first.origin, label: "counted here before" }];
    diagnostics.report("counted-before-routing", each.origin, {}, related);
  }
}

function serverKey({ to }: LimitServiceConfig["server"]): string {
  return JSON.stringify(to);
}

function entriesKey({ entries }: DescriptorConfig): string {
  return JSON.stringify(entries.map(({ name, text }) => [name, text.trim()]));
}
