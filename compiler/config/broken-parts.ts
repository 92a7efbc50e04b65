import type { ConfigPath, Origin } from "../diagnostics/diagnostic.ts";

/** Whether parts with mistakes were left out of what stands at a place, of other fields than `besides`. */
export function isPartial(
  { path }: Origin,
  { broken }: { readonly broken: readonly ConfigPath[] },
  besides: ConfigPath = [],
): boolean {
  return broken.some(
    (each) =>
      path.every((step, index) => each[index] === step) &&
      !besides.some((field) => field === each[path.length]),
  );
}
