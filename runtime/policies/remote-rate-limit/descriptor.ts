import type { MessageInitShape } from "@bufbuild/protobuf";
import { toInt } from "../../cel/values/convert.ts";
import { fieldText } from "../../cel/values/field-text.ts";
import type { RateLimitDescriptorSchema } from "../../grpc/gen/envoy/extensions/common/ratelimit/v3/ratelimit_pb.ts";
import { RateLimitUnit } from "../../grpc/gen/envoy/type/v3/ratelimit_unit_pb.ts";
import { plainValues } from "../transformations/plain-values.ts";

/** The values that are counted together: keys and the values of expressions. */
export interface CountedUse {
  readonly entries: readonly (readonly [key: string, value: unknown])[];
  /** The amount to count. */
  readonly cost?: unknown;
  /** Replaces the service's own limit: `{unit, requestsPerUnit}`. */
  readonly limit?: unknown;
}

/** A descriptor in a request to the service. */
export type LimitDescriptor = MessageInitShape<typeof RateLimitDescriptorSchema>;

/** Returns the descriptor of a use with its cost; `undefined` if a value or the cost failed. */
export function descriptorOf(
  { entries, limit }: Pick<CountedUse, "entries" | "limit">,
  cost: unknown,
): LimitDescriptor | undefined {
  const texts = entries.map(([key, value]) => ({ key, value: fieldText(value) }));
  const known = texts.flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]));
  const hits = toInt(cost);
  if (known.length < texts.length || hits === undefined || hits < 0) return undefined;
  const hitsAddend = BigInt(hits);
  const override = limitOf(limit);
  return { entries: known, hitsAddend, ...(override && { limit: override }) };
}

/** The units of the service by lower-case name. */
const units = new Map(
  Object.entries(RateLimitUnit).map(([name, unit]) => [name.toLowerCase(), unit] as const),
);

/** Returns the limit; an invalid one is ignored. */
function limitOf(value: unknown): LimitDescriptor["limit"] {
  const { limit } = plainValues({ limit: value });
  if (typeof limit !== "object" || limit === null) return undefined;
  const unit = units.get(String(Reflect.get(limit, "unit")).toLowerCase());
  const requestsPerUnit: unknown = Reflect.get(limit, "requestsPerUnit");
  if (unit === undefined || unit === RateLimitUnit.UNKNOWN) return undefined;
  const isCount = typeof requestsPerUnit === "number" && Number.isInteger(requestsPerUnit);
  if (!isCount || requestsPerUnit < 0 || requestsPerUnit > 0xffff_ffff) return undefined;
  return { unit, requestsPerUnit };
}
