/** TEMPORARY */
export function sourceOffset(
  token: {
    readonly text: string;
    readonly start: number;
    readonly style: "plain" | "single" | "double" | "literal" | "folded";
  },
  valueOffset: number,
): number {
  return token.start + valueOffset + (token.style === "plain" ? 0 : 1);
}
